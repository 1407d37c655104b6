"""What keeps the daemon from carrying anything out: why, since when, and the command that lets it go on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rescheduler.daemon.page.outlook import Outlook, brief, lasting
from rescheduler.disruption.gate.breaker import MOST_OPENINGS, breaker_objection
from rescheduler.disruption.gate.kill_switch import stop_mark
from rescheduler.model.objects.annotations import STOP

MOST_SILENT_SECONDS = 120.0
"""Longer than any step of the loop goes without a sign of life."""
DOCTOR = "kubectl reschedule doctor"


class Hindrance(NamedTuple):
    """One of them. ``since``: seconds since the epoch, None where that is not known; ``commands``: that end it.

    ``is_meant``: a person wanted it so.
    """

    why: str
    since: float | None
    commands: tuple[str, ...] = ()
    is_meant: bool = False


def hindrances(outlook: Outlook) -> list[Hindrance]:
    """All that is known now, what is the most certain first."""
    found = [*_broken(outlook), *_paused(outlook), *_stopped(outlook), *_breaker(outlook), *_frozen(outlook)]
    found += [*_policy(outlook)]
    return found or [*_held(outlook)]


def _broken(outlook: Outlook) -> Iterator[Hindrance]:
    state, silent = outlook.state, outlook.basis.silent
    if silent is not None and silent > MOST_SILENT_SECONDS:
        why = f"the loop has shown no sign of life for {lasting(silent)}"
        command = "kubectl -n rescheduler-system rollout restart deployment/rescheduler"
        yield Hindrance(why, outlook.now - silent, (command,))
    for kind, notice in list(state.watches.items())[:5]:
        if not notice.is_synced:
            yield Hindrance(f"{brief(kind)} are not watched: {brief(notice.message)}", notice.at, (DOCTOR,))


def _paused(outlook: Outlook) -> Iterator[Hindrance]:
    pause = outlook.state.switch.pause
    if pause is not None:
        yield Hindrance(brief(str(pause)), pause.at, ("kubectl reschedule ui --allow pause   # then Resume",), True)


def _stopped(outlook: Outlook) -> Iterator[Hindrance]:
    cluster, policy = outlook.state.cluster, outlook.basis.policy
    mark = None if cluster is None else stop_mark(cluster, policy)
    if mark is not None:
        command = f"kubectl annotate namespace {policy.hold.namespace} {STOP}-"
        yield Hindrance(f"the kill switch: {brief(mark)}", None, (command,), True)


def _breaker(outlook: Outlook) -> Iterator[Hindrance]:
    """Closing it is for an operator, but only where it does not try again by itself."""
    breaker, policy = outlook.ledger.breaker, outlook.basis.policy
    why = breaker_objection(breaker, policy.disruption.breaker, outlook.now)
    if why is None:
        return
    command = (
        f"kubectl annotate -n {policy.hold.namespace} configmap {policy.ledger.name} --overwrite "
        'rescheduler.dev/breaker-closed="$(date -u +%Y-%m-%dT%H:%M:%SZ)"'
    )
    yield Hindrance(brief(why, 300), breaker.opened_at, (command,) if breaker.openings >= MOST_OPENINGS else ())


def _frozen(outlook: Outlook) -> Iterator[Hindrance]:
    freeze = outlook.basis.freeze
    if freeze is not None:
        why = "; ".join(str(finding) for finding in freeze.findings[:3])
        calm = f"it goes on by itself {lasting(outlook.basis.policy.health.calm)} after that has passed"
        yield Hindrance(f"the cluster is not calm: {brief(why, 300)}; {calm}", freeze.since, (DOCTOR,))


def _policy(outlook: Outlook) -> Iterator[Hindrance]:
    kept, held = outlook.state.kept, outlook.state.held
    if kept is not None:
        why = f"the policy's file cannot be used, the one before stays in force: {brief(kept.problem)}"
        yield Hindrance(why, kept.at, ("kubectl reschedule check FILE",))
    if held is not None:
        why = f"a policy that reaches further waits to be acknowledged ({brief('; '.join(held.widening))})"
        held_id = brief(held.held_id, 64)
        in_the_file = f'metadata: {{acknowledged: "{held_id}"}}   # into the policy\'s file; or by REST:'
        by_rest = f'POST /v1/policy/acknowledge {{"heldId": "{held_id}"}}'
        yield Hindrance(why, held.at, (in_the_file, by_rest), True)


def _held(outlook: Outlook) -> Iterator[Hindrance]:
    """What the last rounds ran into, where nothing above says it."""
    past = outlook.state.past
    # A replica that has run none yet does not know whether what stopped the process before still stands.
    if not outlook.state.rounds or not past[-1].is_held:
        return
    since = past[-1].started_at
    for digest in reversed(past):
        if not digest.is_held:
            break
        since = digest.started_at
    reason = past[-1].reason
    command = "kubectl reschedule ledger accept-loss" if "accept-loss" in reason else DOCTOR
    yield Hindrance(brief(reason, 300), since, (command,))
