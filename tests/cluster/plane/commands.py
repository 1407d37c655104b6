"""The command line of each component of the control plane."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.plane.certificates import SERVICE_ADDRESS, Certificates


def etcd_command(binary: Path, port: int, peer_port: int, data: Path) -> list[str]:
    """Return etcd's command; nothing is flushed to disk, as the data live for one test run."""
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [
        str(binary),
        f"--data-dir={data}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def api_server_command(
    binary: Path, port: int, etcd_port: int, certificates: Certificates, audit_policy: Path, audit_log: Path
) -> list[str]:
    """Return the API server's command: stock admission, but no ServiceAccount plug-in, so pods need no token."""
    front_proxy = certificates.front_proxy.certificate
    return [
        str(binary),
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={certificates.api_server.certificate}",
        f"--tls-private-key-file={certificates.api_server.key}",
        f"--client-ca-file={certificates.authority.certificate}",
        f"--service-account-issuer=https://127.0.0.1:{port}",
        f"--service-account-key-file={certificates.service_account_key}",
        f"--service-account-signing-key-file={certificates.service_account_key}",
        f"--service-cluster-ip-range={SERVICE_ADDRESS}/24",
        "--authorization-mode=RBAC",
        "--endpoint-reconciler-type=none",
        "--disable-admission-plugins=ServiceAccount",
        "--allow-privileged=true",
        "--delete-collection-workers=8",
        "--shutdown-send-retry-after=true",  # else a stop waits a minute for the watches of the other components
        f"--requestheader-client-ca-file={front_proxy}",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={certificates.proxy_client.certificate}",
        f"--proxy-client-key-file={certificates.proxy_client.key}",
        f"--audit-policy-file={audit_policy}",
        f"--audit-log-path={audit_log}",
        "--audit-log-maxsize=4000",  # megabytes: who reads it from a mark on finds it whole
    ]


def controllers_command(binary: Path, port: int, kubeconfig: Path, certificates: Certificates) -> list[str]:
    """Return the controller manager's command, with room for more requests a second than a busy cluster would give."""
    return [
        str(binary),
        *_delegated(port, kubeconfig, certificates),
        f"--kubeconfig={kubeconfig}",
        f"--service-account-private-key-file={certificates.service_account_key}",
        f"--root-ca-file={certificates.authority.certificate}",
        "--use-service-account-credentials=true",
        "--leader-elect=false",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--node-monitor-grace-period=24h",  # kwok sends no heartbeats (kwok.py); nodes fail when a test says so
    ]


def scheduler_command(binary: Path, port: int, kubeconfig: Path, certificates: Certificates, config: Path) -> list[str]:
    """Return a scheduler's command; everything else stands in its configuration file."""
    return [str(binary), *_delegated(port, kubeconfig, certificates), f"--config={config}"]


def _delegated(port: int, kubeconfig: Path, certificates: Certificates) -> list[str]:
    """Return what the two clients that serve their own health and metrics have in common."""
    return [
        f"--authentication-kubeconfig={kubeconfig}",
        f"--authorization-kubeconfig={kubeconfig}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={certificates.api_server.certificate}",
        f"--tls-private-key-file={certificates.api_server.key}",
    ]
