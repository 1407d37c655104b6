"""``ui``: the daemon's page in a browser, until it is stopped."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlsplit

import typer

from rescheduler.cli.failures import DONE, UsageError
from rescheduler.cli.options import LiveOptions, with_options
from rescheduler.cli.streams import say, write

if TYPE_CHECKING:
    from rescheduler.daemon.page.local_proxy import DaemonBehind

_ALLOW = ("approve", "pause")


def _option(metavar: str, text: str) -> Any:
    return typer.Option(metavar=metavar, help=text, show_default=False, rich_help_panel="Options")


@with_options
def ui(
    options: LiveOptions,
    account: Annotated[
        str | None, _option("NAME", "Service account whose token is shown to the daemon [default: rescheduler-viewer]")
    ] = None,
    namespace: Annotated[
        str, _option("NAME", "Namespace of daemon and account [default: rescheduler-system]")
    ] = "rescheduler-system",
    target: Annotated[
        str, _option("TARGET", "What kubectl forwards a port to [default: deployment/rescheduler]")
    ] = "deployment/rescheduler",
    server: Annotated[
        str | None, _option("URL", "The daemon's address, where it can be reached without kubectl port-forward")
    ] = None,
    token_file: Annotated[
        str | None, _option("FILE", "A token to show in place of the account's, read anew each time")
    ] = None,
    ca_file: Annotated[str | None, _option("FILE", "Who has signed the certificate of an https:// server")] = None,
    allow: Annotated[
        str, _option("NAMES", "What the page may do besides reading: approve, pause, or both with a comma")
    ] = "",
    port: Annotated[
        int, typer.Option(metavar="PORT", min=0, max=65535, help="On this machine [default: any free one]",
                          show_default=False, rich_help_panel="Options")
    ] = 0,
) -> int:  # fmt: skip
    """Show the daemon's page in a browser on this machine; it only reads, unless --allow says more.

    Prints an address that is good for one tab. The token stays here: it lasts ten minutes, and is renewed by kubectl.
    """
    names, daemon = _names(allow), (namespace, account or "rescheduler-viewer", target)
    with ExitStack() as stack:
        upstream = _upstream(stack, options, daemon, server, token_file, ca_file)
        _serve(stack, upstream, names, port)
    say("stopped")
    return DONE


def _serve(stack: ExitStack, upstream: DaemonBehind, names: tuple[str, ...], port: int) -> None:
    """Serve the page on this machine until somebody says stop."""
    from rescheduler.cli.commands.looking.watcher import until_signalled
    from rescheduler.daemon.page.local_proxy import LocalProxy
    from rescheduler.daemon.serving.listening import ApplicationServer, Door

    proxy = LocalProxy(upstream, names)
    listener = ApplicationServer(proxy, f"127.0.0.1:{port}", Door("page-proxy", "ui"))
    stack.callback(listener.stop)
    proxy.serve_as(urlsplit(listener.url).port or 0)
    listener.start()
    with until_signalled(signal.SIGTERM, signal.SIGINT) as stop:
        say(f"open this in one tab; {_told(names)}; Ctrl-C ends it")
        write(f"{listener.url}/#{proxy.secret}\n")
        stop.wait()


def _names(allow: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in allow.split(",") if name.strip())
    for name in names:
        if name not in _ALLOW:
            raise UsageError(f"--allow: found {name[:60]!r}; wanted {' or '.join(_ALLOW)}")
    return names


def _told(names: tuple[str, ...]) -> str:
    return f"it may {' and '.join(names)}" if names else "it only reads"


def _upstream(
    stack: ExitStack,
    options: LiveOptions,
    where: tuple[str, str, str],
    server: str | None,
    file: str | None,
    ca_file: str | None,
) -> DaemonBehind:
    """The daemon with a token; raises UsageError for an address that is none, ClusterError for no way there."""
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.adapters.kubernetes.kubectl import AccountTokens, forwarded, kubectl, token_file
    from rescheduler.adapters.page_upstream import PageUpstream

    namespace, account, target = where
    command = kubectl(options.kubeconfig, options.context)
    tokens = (
        AccountTokens(command, namespace, account, "rescheduler", SystemClock()) if file is None else token_file(file)
    )
    url = stack.enter_context(forwarded(command, namespace, target, 2021)) if server is None else _address(server)
    tokens()  # whoever gets none is told now
    return PageUpstream(url, tokens, ca_file)


def _address(server: str) -> str:
    """An address to which a token may be sent: encrypted, or on this machine."""
    from rescheduler.daemon.serving.protection import is_loopback

    try:
        place = urlsplit(server)
        host, _ = place.hostname or "", place.port
    except ValueError:
        place, host = urlsplit(""), ""
    if place.scheme not in ("http", "https") or not host or place.path not in ("", "/"):
        raise UsageError(f"--server: found {server[:200]!r}; wanted an address such as https://rescheduler.example.org")
    if place.scheme == "http" and not is_loopback(host):
        raise UsageError("--server: a token would travel in clear text; wanted https://, or an address of this machine")
    return server
