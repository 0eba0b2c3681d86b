# The image of all our commands: `docker build -t schedmate .`, then `docker run --rm schedmate --help`.
#
# EXTRAS=[worker,sink,bridge,advise,web,kubernetes,minilm] adds the light embedder, [worker,sink,bridge,advise,web,kubernetes,gpu] the large one with what it needs.
ARG PYTHON=3.12.12-slim-bookworm

FROM python:${PYTHON} AS wheel
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY schedmate_records schedmate_records
COPY streams streams
COPY processors processors
COPY sinks sinks
COPY scheduler_bridge scheduler_bridge
COPY schedmate schedmate
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:${PYTHON} AS installed
ARG EXTRAS="[worker,sink,bridge,advise,web,kubernetes]"
COPY --from=wheel /wheel /wheel
RUN python -m venv /opt/schedmate \
    && /opt/schedmate/bin/pip install --no-cache-dir "$(echo /wheel/schedmate-*.whl)${EXTRAS}"

FROM python:${PYTHON}
ARG VERSION=0.1.0
ARG REVISION=""
LABEL org.opencontainers.image.title="SchedMate" \
      org.opencontainers.image.description="Reads what GPU training jobs print, and tells the scheduler what to do" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"

# A fixed number, so that volumes and secrets can be given to it.
RUN groupadd --system --gid 10001 schedmate \
    && useradd --system --uid 10001 --gid 10001 --home-dir /var/lib/schedmate --create-home schedmate \
    && install --directory --owner=schedmate --group=schedmate /models   # a volume for what an embedder downloads
# LightGBM (the extra `advise`) needs OpenMP's library, which the slim image lacks.
RUN python -c 'import ctypes; ctypes.CDLL("libgomp.so.1")' 2>/dev/null \
    || (apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/*)
COPY --from=installed /opt/schedmate /opt/schedmate

# State goes to /var/lib/schedmate. The image itself may be read-only.
ENV PATH=/opt/schedmate/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    XDG_STATE_HOME=/var/lib \
    SCHEDMATE_SERVICE__LISTEN=0.0.0.0 \
    SCHEDMATE_SERVICE__PORT=9100 \
    SCHEDMATE_SERVICE__LOG_FORMAT=json
WORKDIR /var/lib/schedmate
USER 10001:10001
EXPOSE 9100

# For the long-running commands; one that ends by itself needs none.
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=4 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['SCHEDMATE_SERVICE__PORT'] + '/health', timeout=4)"]

# The commands end in order on SIGTERM, so no init process stands before them.
STOPSIGNAL SIGTERM
ENTRYPOINT ["schedmate"]
CMD ["--help"]
