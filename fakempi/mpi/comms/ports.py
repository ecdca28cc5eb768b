"""Ports, at which groups that do not know each other meet, and the names under which ports are published.

A port belongs to the process that has opened it, but its name is known in the whole universe. Accept and Connect wait for
each other, in whichever order they come, first come, first served; it is free in modelled time.
"""

from __future__ import annotations

from typing import Any

from fakempi.error_classes import ERR_ARG, ERR_INFO, ERR_NAME, ERR_PORT, ERR_SERVICE
from fakempi.errors import MPIError, MPITypeError
from fakempi.mpi.base.complain import complaint
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.duties import done, owes
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.port import Port
from fakempi.mpi.comms.spawning import checked_root, one_root


class Connecting(Comm):
    """The part of an intracommunicator that meets other groups at ports."""

    __slots__ = ()

    def Accept(self, port_name: str, info: Info = INFO_NULL, root: int = 0) -> Intercomm:
        """Wait for a group that connects to a port of the root, and join it with this one. Only the root's name matters."""
        return self._visit("Accept", port_name, info, root)

    def Connect(self, port_name: str, info: Info = INFO_NULL, root: int = 0) -> Intercomm:
        """Wait for a group that accepts at a port, and join it with this one. Only the root's name of it matters."""
        return self._visit("Connect", port_name, info, root)

    def _visit(self, call: str, port_name: str, info: Info, root: int) -> Intercomm:
        """All of the group meet, then the root goes to the port, then all meet again and are told."""
        root = checked_root(self, root)
        _check_info(info)
        self._meet(call, (root,), lambda values: one_root(call, values))
        found: Any = None
        if self._rank == root:
            try:
                found = self._go_to_port(call == "Accept", port_name)
            except MPIError as error:
                found = error
        context = self._meet(call, found, lambda values: values[root])
        if isinstance(context, MPIError):
            self._raise(type(context)(context.ierr, context.message))
        mine = 0 if call == "Accept" else 1
        joined: Intercomm = Intercomm._make(self._process, context.sides[mine], context.sides[1 - mine], self._rank)
        return joined

    def _go_to_port(self, accepts: bool, port_name: str) -> Context:
        port = _port(port_name)
        if accepts and port.owner is not self._process:
            raise complaint(ERR_PORT, f"port {port_name!r} was opened by {port.owner.name}: only there can one accept.")
        return port.meet(accepts, self._local().members)


def Open_port(info: Info = INFO_NULL) -> str:
    """A new port of the running rank, by its name."""
    _check_info(info)
    process = running_process()
    universe = process.universe
    universe.opened += 1
    port = Port(f"fakempi-port-{universe.opened}", process)
    universe.ports[port.name] = port
    owes("port-leak", port)
    return port.name


def Close_port(port_name: str) -> None:
    """Give a port up, by its name."""
    port = _port(port_name)
    del running_process().universe.ports[port.name]
    done("port-leak", port)
    port.close()


def Publish_name(service_name: str, port_name: str, info: Info = INFO_NULL) -> None:
    """Let everybody find a port under the name of a service."""
    service, port, services = _string("service_name", service_name), _string("port_name", port_name), _services(info)
    if service in services:
        raise complaint(ERR_SERVICE, f"service {service!r} is published already, for port {services[service]!r}.")
    services[service] = port


def Unpublish_name(service_name: str, port_name: str, info: Info = INFO_NULL) -> None:
    """Take a published name back."""
    service, port, services = _string("service_name", service_name), _string("port_name", port_name), _services(info)
    if service not in services:
        raise complaint(ERR_SERVICE, f"service {service!r} is not published.")
    if services[service] != port:
        raise complaint(ERR_SERVICE, f"service {service!r} is published for port {services[service]!r}, not for {port!r}.")
    del services[service]


def Lookup_name(service_name: str, info: Info = INFO_NULL) -> str:
    """The port that is published under the name of a service."""
    service, services = _string("service_name", service_name), _services(info)
    if service not in services:
        raise complaint(ERR_NAME, f"service {service!r} is not published.")
    return services[service]


def _port(name: str) -> Port:
    ports: dict[str, Port] = running_process().universe.ports
    port = ports.get(_string("port_name", name))
    if port is None:
        raise complaint(ERR_PORT, f"there is no port {name!r}: it was never opened, or was closed.")
    return port


def _services(info: Any) -> dict[str, str]:
    _check_info(info)
    services: dict[str, str] = running_process().universe.services
    return services


def _string(what: str, value: Any) -> str:
    if not isinstance(value, str):
        raise complaint(ERR_ARG, f"{what} is {value!r}, not a string.", MPITypeError)
    return value


def _check_info(info: Any) -> None:
    """There is nothing that info could change, but it must be one."""
    if info is not None and not isinstance(info, Info):
        raise complaint(ERR_INFO, f"info is {info!r}, not an Info.", MPITypeError)
