"""Ports: Accept and Connect join groups that share no communicator. Publish_name and Lookup_name exchange port names.

A port belongs to the process that opened it, but all processes of the run can use its name. Accept and Connect wait for each
other, whichever is called first; several groups at one port are served in order of arrival. Both take no modeled time.
"""

from __future__ import annotations

from typing import Any

from fakempi.errors import MPIError, MPITypeError
from fakempi.errors.classes import ERR_ARG, ERR_INFO, ERR_NAME, ERR_PORT, ERR_SERVICE
from fakempi.mpi.base.context import Context
from fakempi.mpi.base.current import running_process
from fakempi.mpi.base.info import INFO_NULL, Info
from fakempi.mpi.base.mpi_errors import mpi_error
from fakempi.mpi.base.resource_tracker import track, untrack
from fakempi.mpi.comms.comm import Comm
from fakempi.mpi.comms.intercomm import Intercomm
from fakempi.mpi.comms.port import NamedPort, OpenPorts
from fakempi.mpi.comms.spawning import checked_root, one_root


class Connecting(Comm):
    """The methods of an intracommunicator that join groups at ports."""

    __slots__ = ()

    def Accept(self, port_name: str, info: Info = INFO_NULL, root: int = 0) -> Intercomm:
        """Wait for a group that connects to a port; return the intercommunicator. Only the root's `port_name` matters."""
        return self._join_at_port("Accept", port_name, info, root)

    def Connect(self, port_name: str, info: Info = INFO_NULL, root: int = 0) -> Intercomm:
        """Wait for a group that accepts at a port; return the intercommunicator. Only the root's `port_name` matters."""
        return self._join_at_port("Connect", port_name, info, root)

    def _join_at_port(self, call: str, port_name: str, info: Info, root: int) -> Intercomm:
        """Wait for all ranks of this group, let the root wait for the other group, and return the result on all ranks."""
        root = checked_root(self, root)
        _check_info(info)
        self._rendezvous(call, (root,), lambda values: one_root(call, values))
        result: Any = None
        if self._rank == root:
            try:
                result = self._rendezvous_at_port(call == "Accept", port_name)
            except MPIError as error:
                result = error
        context = self._rendezvous(call, result, lambda values: values[root])
        if isinstance(context, MPIError):
            self._raise(type(context)(context.ierr, context.message))
        own_side = 0 if call == "Accept" else 1
        joined: Intercomm = Intercomm._make(self._process, context.sides[own_side], context.sides[1 - own_side], self._rank)
        return joined

    def _rendezvous_at_port(self, accepts: bool, port_name: str) -> Context:
        port = _port(port_name)
        if accepts and port.owner is not self._process:
            raise mpi_error(ERR_PORT, f"port {port_name!r} was opened by {port.owner.name}; only that rank can accept.")
        return port.rendezvous(accepts, self._local().members)


def Open_port(info: Info = INFO_NULL) -> str:
    """Open a port that belongs to the running rank; return the name of the port."""
    _check_info(info)
    process = running_process()
    universe = process.universe
    ports = universe.state(OpenPorts)
    ports.opened += 1
    port = NamedPort(f"fakempi-port-{ports.opened}", process)
    ports.open[port.name] = port
    track("port-leak", port)
    universe.note_unexplored("which group reaches a port first")
    return port.name


def Close_port(port_name: str) -> None:
    """Close a port, given its name."""
    port = _port(port_name)
    del running_process().universe.state(OpenPorts).open[port.name]
    untrack("port-leak", port)
    port.close()


def Publish_name(service_name: str, port_name: str, info: Info = INFO_NULL) -> None:
    """Publish the name of a port under the name of a service; all ranks can look it up."""
    service, port, services = _string("service_name", service_name), _string("port_name", port_name), _services(info)
    if service in services:
        raise mpi_error(ERR_SERVICE, f"service {service!r} is published already, for port {services[service]!r}.")
    services[service] = port


def Unpublish_name(service_name: str, port_name: str, info: Info = INFO_NULL) -> None:
    """Withdraw the name of a service, which must be published for this port."""
    service, port, services = _string("service_name", service_name), _string("port_name", port_name), _services(info)
    if service not in services:
        raise mpi_error(ERR_SERVICE, f"service {service!r} is not published.")
    if services[service] != port:
        raise mpi_error(ERR_SERVICE, f"service {service!r} is published for port {services[service]!r}, not for {port!r}.")
    del services[service]


def Lookup_name(service_name: str, info: Info = INFO_NULL) -> str:
    """Return the name of the port that is published for a service."""
    service, services = _string("service_name", service_name), _services(info)
    if service not in services:
        raise mpi_error(ERR_NAME, f"service {service!r} is not published.")
    return services[service]


def _port(name: str) -> NamedPort:
    """Return the open port with this name."""
    port = running_process().universe.state(OpenPorts).open.get(_string("port_name", name))
    if port is None:
        raise mpi_error(ERR_PORT, f"there is no port {name!r}: it was never opened, or was closed.")
    return port


def _services(info: object) -> dict[str, str]:
    """Return {name of a service: name of its port}."""
    _check_info(info)
    universe = running_process().universe
    universe.note_unexplored("whether a name is published in time")
    return universe.state(OpenPorts).services


def _string(parameter: str, value: object) -> str:
    if not isinstance(value, str):
        raise mpi_error(ERR_ARG, f"{parameter} is {value!r}, not a string.", MPITypeError)
    return value


def _check_info(info: object) -> None:
    """Check the type of `info`; its content has no effect."""
    if info is not None and not isinstance(info, Info):
        raise mpi_error(ERR_INFO, f"info is {info!r}, not an Info.", MPITypeError)
