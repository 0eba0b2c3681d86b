"""The GPU agent: NVML samples of every GPU of a node, shipped to the topic `gpu-metrics`."""
