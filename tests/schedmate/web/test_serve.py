"""Settings with which the page does not start."""

import pytest

from schedmate.settings.settings import Settings, SettingsError, WebSection
from schedmate.web.serve import serve


@pytest.mark.parametrize(
    ("web", "said"),
    [
        (WebSection(act=True, user_header="X-User"), "expected the password that the proxy proves itself with"),
        (WebSection(user_header="X-User"), "web.password_file"),
        (WebSection(operators=("alice",)), "expected web.user_header"),
    ],
)
def test_what_would_let_strangers_in_is_refused(web: WebSection, said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        serve(Settings(web=web), 0)
