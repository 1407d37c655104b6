"""The control plane: starts and stops its components, and hands out access to it."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.api import Api, Manifest
from tests.cluster.building.binaries import Binaries, locate
from tests.cluster.plane.audit import AuditLog, write_audit_policy
from tests.cluster.plane.certificates import Authority, Certificates
from tests.cluster.plane.commands import api_server_command, controllers_command, etcd_command, scheduler_command
from tests.cluster.plane.kubeconfig import Access, write_kubeconfig
from tests.cluster.plane.kwok import kwok_command, write_forwarding
from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component, ComponentError
from tests.cluster.plane.readiness import healthy

ADMINISTRATORS = "system:masters"
START_ORDER = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")


class ControlPlane:
    """etcd, the API server, the controllers, the scheduler and kwok as processes on loopback.

    Components go by the names of `START_ORDER`; a further scheduler by the name it was given.
    Everything is kept in `root`, or in a temporary folder that goes with `stop()`; what an earlier cluster left
    in `root` is replaced.
    """

    def __init__(self, root: Path | None = None, binaries: Binaries | None = None) -> None:
        self.binaries = binaries or locate()
        self._is_temporary = root is None
        self.root = (root or Path(tempfile.mkdtemp(prefix="rescheduler-cluster-"))).absolute()
        self._logs = self.root / "logs"
        for folder in (self.root / "etcd", self._logs):
            shutil.rmtree(folder, ignore_errors=True)
        (self.root / "audit.log").unlink(missing_ok=True)
        self._logs.mkdir(parents=True)
        self._certificates = Certificates.create(self.root / "pki")
        self._port = free_port()
        self._components: dict[str, Component] = {}
        self._tokens = count(1)
        self._prepare()
        self.kubeconfig = self.user_kubeconfig("admin", (ADMINISTRATORS,))
        self.api = Api.from_kubeconfig(self.kubeconfig)
        self.audit = AuditLog(self.root / "audit.log", self.api)

    def start(self) -> None:
        """Start all components and wait until each is ready; on failure nothing is left running."""
        try:
            self._components["etcd"].start()
            self._components["kube-apiserver"].start()
            for name in START_ORDER[2:]:
                self._components[name].launch()
            for name in START_ORDER[2:]:
                self._components[name].wait_ready()
        except BaseException:
            self._stop_all()
            raise

    def stop(self) -> None:
        """Stop all components, the last started first, and remove the temporary folder."""
        self._stop_all()
        self.api.close()
        if self._is_temporary:
            shutil.rmtree(self.root, ignore_errors=True)

    def __enter__(self) -> ControlPlane:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def version(self) -> str:
        """The Kubernetes version the API server states, such as `v1.36.3`."""
        answer: str = self.api.request("GET", "/version")["gitVersion"]
        return answer

    def pause(self, name: str) -> None:
        """Freeze a component: it keeps its connections and does nothing."""
        self._component(name).pause()

    def resume(self, name: str) -> None:
        """Let a frozen component go on."""
        self._component(name).resume()

    def kill(self, name: str) -> None:
        """End a component without warning; `restart` brings it back."""
        self._component(name).stop(gracefully=False)

    def restart(self, name: str, *, gracefully: bool = True) -> None:
        """Stop a component if it runs, start it again and wait until it is ready."""
        self._component(name).stop(gracefully=gracefully)
        self._component(name).start()

    def start_scheduler(self, name: str, config: Manifest) -> None:
        """Run a further scheduler; client connection and leader election are filled into its configuration."""
        if name in self._components:
            raise ComponentError(f'there is a component "{name}" already: {", ".join(self._components)}')
        self._components[name] = self._scheduler(name, config)
        self._components[name].start()

    def stop_scheduler(self, name: str) -> None:
        """End a further scheduler for good."""
        self._component(name).stop()
        del self._components[name]

    def settle(self) -> None:
        """Bring all components back to normal: none paused, none dead, no further scheduler."""
        for name in [name for name in self._components if name not in START_ORDER]:
            self.stop_scheduler(name)
        for name in START_ORDER:
            component = self._component(name)
            if component.is_running:
                component.resume()
                component.wait_ready()
            else:
                component.start()

    def user_kubeconfig(self, user: str, groups: tuple[str, ...] = ()) -> Path:
        """Write the kubeconfig of a user with a client certificate (common name and organisations)."""
        identity = self._certificates.authority.client(user, groups)
        return write_kubeconfig(self._kubeconfig_path(user), self._access(identity=identity))

    @property
    def authority(self) -> Authority:
        """Who signs certificates that everybody in the cluster trusts."""
        return self._certificates.authority

    def service_account_kubeconfig(self, name: str, namespace: str, *, seconds: int = 3600) -> Path:
        """Write the kubeconfig of an existing ServiceAccount, with a token from the API server.

        In a file of its own: a guardian of an earlier test, which may tidy up for minutes, keeps a token that is void.
        """
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        answer = self.api.request("POST", path, {**request, "spec": {"expirationSeconds": seconds}})
        file = self._kubeconfig_path(f"{namespace}-{name}-{next(self._tokens)}")
        return write_kubeconfig(file, self._access(token=answer["status"]["token"]), namespace=namespace)

    def apply_files(self, *paths: Path) -> list[Manifest]:
        """Apply manifests from YAML files, several to a file or one, as the administrator."""
        documents = [document for path in paths for document in yaml.safe_load_all(path.read_text())]
        return [self.api.apply(document) for document in documents if document]

    def log_tails(self, lines: int = 40) -> dict[str, str]:
        """Return the last lines of every component's log, by component."""
        return {name: component.log_tail(lines) for name, component in self._components.items()}

    def _prepare(self) -> None:
        """Set up the components of the control plane, none of them started."""
        etcd_port, peer_port, controllers_port = free_port(), free_port(), free_port()
        policy = write_audit_policy(self.root / "audit-policy.yaml")
        pki, authority = self._certificates, self._certificates.authority.certificate
        controllers = self.user_kubeconfig("system:kube-controller-manager")
        self._scheduler_kubeconfig = self.user_kubeconfig("system:kube-scheduler")
        binaries = self.binaries
        data = self.root / "etcd"
        command = etcd_command(binaries["etcd"], etcd_port, peer_port, data)
        self.etcd = f"http://127.0.0.1:{etcd_port}"
        self._add("etcd", command, f"{self.etcd}/health")
        command = api_server_command(
            binaries["kube-apiserver"], self._port, etcd_port, pki, policy, self.root / "audit.log"
        )
        self._add("kube-apiserver", command, f"https://127.0.0.1:{self._port}/readyz", authority)
        command = controllers_command(binaries["kube-controller-manager"], controllers_port, controllers, pki)
        self._add("kube-controller-manager", command, f"https://127.0.0.1:{controllers_port}/healthz", authority)
        self._components["kube-scheduler"] = self._scheduler("kube-scheduler", {})
        kubeconfig = self.user_kubeconfig("kwok", (ADMINISTRATORS,))
        port, self.forwarded_port = free_port(), free_port()
        self.kubelet_port = port
        forwarding = write_forwarding(self.root / "forwarding.yaml", self.forwarded_port)
        command = kwok_command(binaries["kwok"], port, kubeconfig, forwarding)
        self._add("kwok", command, f"http://127.0.0.1:{port}/healthz")

    def _add(self, name: str, command: list[str], health: str, authority: Path | None = None) -> None:
        """Set up one component, not started."""
        log = self._logs / f"{name}.log"
        self._components[name] = Component(name, command, log, healthy(health, authority))

    def _scheduler(self, name: str, config: Manifest) -> Component:
        """Set up one scheduler, not started."""
        port = free_port()
        file = self.root / f"{name}.yaml"
        connection = {"kubeconfig": str(self._scheduler_kubeconfig), "qps": 500, "burst": 1000}
        document: dict[str, Any] = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **config,
            "clientConnection": connection,
            "leaderElection": {"leaderElect": False},
        }
        file.write_text(yaml.safe_dump(document, sort_keys=False))
        binary, kubeconfig = self.binaries["kube-scheduler"], self._scheduler_kubeconfig
        command = scheduler_command(binary, port, kubeconfig, self._certificates, file)
        is_ready = healthy(f"https://127.0.0.1:{port}/readyz", self._certificates.authority.certificate)
        return Component(name, command, self._logs / f"{name}.log", is_ready)

    def _component(self, name: str) -> Component:
        """Return a component by its name."""
        if name not in self._components:
            raise ComponentError(f'no component "{name}"; there are {", ".join(self._components)}')
        return self._components[name]

    def _stop_all(self) -> None:
        """Stop all components, the last started first."""
        for component in reversed(self._components.values()):
            component.stop()

    def _access(self, **credentials: Any) -> Access:
        """Return access to this API server with some credentials."""
        return Access(f"https://127.0.0.1:{self._port}", self._certificates.authority.certificate, **credentials)

    def _kubeconfig_path(self, user: str) -> Path:
        """Return where a user's kubeconfig is kept."""
        return self.root / "kubeconfigs" / f"{user.replace(':', '-')}.yaml"
