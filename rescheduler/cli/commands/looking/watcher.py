"""``watcher``: collect measured load and tell it over REST, until it is stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.options import ClusterFlags, policies, with_options
from rescheduler.cli.preparation import cluster_options_from
from rescheduler.cli.streams import say, warn

if TYPE_CHECKING:
    from rescheduler.composition.load.watching import UsageWatch
    from rescheduler.daemon.serving.listening import ApplicationServer
    from rescheduler.policy.fields.policy import Policy


_LOOK_SECONDS = 0.5


@with_options
def watcher(
    options: ClusterFlags,
    policy: Annotated[list[str] | None, policies(
"A ReschedulerPolicy with usage.providers; repeatable, a later one wins by field")] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT", help="Where to listen, in place of usage.api.address; port 0 is any free one "
            "[default: 127.0.0.1:2020]", show_default=False, rich_help_panel="Output",
        ),
    ] = None,
) -> int:  # fmt: skip
    """Collect the load of nodes and pods from the policy's providers, and tell it over REST until stopped.

    Listens on this machine only, unless usage.api of the policy asks clients for a token or a certificate.
    """
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.policy.reading.errors import named

    found, files = load_policy(policy or []), policy or []
    _refuse_impossible(address)
    where = cluster_options_from(options)
    with named(files), _listening(found, where, address) as (watch, listener), until_signalled(signal.SIGTERM) as stop:
        say(f"listening on {listener.url}; {_plan(found)}")
        while not stop.wait(_LOOK_SECONDS):
            if not (listener.is_running and watch.is_running):
                say("error: the watcher has stopped by itself, a fault of rescheduler's own; please report it")
                return FAILED
    say("stopped")
    return DONE


def _refuse_impossible(address: str | None) -> None:
    """Raise UsageError for an --address that is none; one that cannot be listened on now is another matter."""
    from pydantic import TypeAdapter, ValidationError

    from rescheduler.policy.fields.usage import ListenAddress

    if address is None:
        return
    try:
        TypeAdapter(ListenAddress).validate_python(address)
    except ValidationError:
        text = f"--address: found {address[:300]!r}, no address to listen on; wanted HOST:PORT, such as 127.0.0.1:2020"
        raise UsageError(text) from None


@contextmanager
def _listening(policy: Policy, where: Any, address: str | None) -> Iterator[tuple[UsageWatch, ApplicationServer]]:
    """Watch and server, both at work; stopped in the end, whatever happens."""
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.composition.load.metrics import token_reader
    from rescheduler.composition.load.watching import UsageWatch
    from rescheduler.daemon.load_watcher.app import create_app
    from rescheduler.daemon.serving.listening import ApplicationServer

    clock, usage = SystemClock(), policy.usage
    watch = UsageWatch(policy, where, clock, lambda text: warn([text]))
    token = usage.api.bearer_token
    read_token = None if token is None else token_reader(token, where)
    app = create_app(watch, clock, interval=usage.interval, read_token=read_token)
    listener = ApplicationServer(app, usage.api.address if address is None else address, usage.api)
    try:
        if read_token is not None:
            read_token()  # a token that cannot be read is found out now
        listener.start()
        watch.start(app.state.prepare)
        yield watch, listener
    finally:
        listener.stop()
        watch.stop()


@contextmanager
def until_signalled(*numbers: signal.Signals) -> Iterator[threading.Event]:
    """An event that these signals set; all others do as ever."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda _number, _frame: stop.set()) for number in numbers}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _plan(policy: Policy) -> str:
    from rescheduler.policy.fields.values import format_duration

    names = ", ".join(provider.name for provider in policy.usage.providers)
    windows = ", ".join(map(format_duration, sorted(policy.usage.windows)))
    return f"asks {names} every {format_duration(policy.usage.interval)}, windows {windows}"
