"""Sockets between ranks: a rank that waits for a socket does not block other ranks."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

from tests.isolation.harness import play


def test_a_rank_that_accepts_or_receives_lets_the_other_rank_run(tmp_path: Path, backend: Any) -> None:
    """In either order, with work and messages in between; `accept` once blocked the whole process."""
    script = """
    import socket, time
    for here, there in (0, 1), (1, 0):
        if comm.rank == here:
            with socket.create_server(("127.0.0.1", 0)) as server:
                comm.send(server.getsockname(), there)
                with server.accept()[0] as line:
                    assert line.recv(5) == b"hello"
                    line.sendall(b"you")
        elif comm.rank == there:
            address = comm.recv(source=here)
            time.sleep(1)
            comm.sendrecv(0, 2, source=2)
            with socket.create_connection(address) as line:
                time.sleep(1)
                comm.sendrecv(0, 2, source=2)
                line.sendall(b"hello")
                assert line.recv_into(bytearray(3)) == 3
        else:
            for _ in range(2):
                time.sleep(2)
                comm.sendrecv(0, there, source=there)
    """
    assert play(tmp_path, script, 3, backend).returns == [0, 0, 0]
    assert "fakempi" not in str(vars(socket.socket)["accept"].__code__.co_filename)


def test_calls_that_receive_no_bytes_do_not_wait(tmp_path: Path, backend: Any) -> None:
    """As in Python. An empty message of multiprocessing, with which a pool wakes its thread, waited for the next one."""
    script = """
    import socket
    from multiprocessing import Pipe
    here, there = socket.socketpair()
    assert here.recv(0) == b"" and here.recv_into(bytearray()) == 0
    one, other = Pipe()
    one.send_bytes(b"")
    assert other.recv_bytes() == b"" and not other.poll()
    here.close(), there.close(), one.close(), other.close()
    """
    assert play(tmp_path, script, 2, backend).returns == [0, 0]


def test_a_rank_waits_for_an_outside_peer(tmp_path: Path, backend: Any) -> None:
    """When the other ranks can only wait for it."""
    script = """
    import socket, sys
    if comm.rank == 0:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as line:
            assert line.recv(5) == b"hello"
    comm.barrier()
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(120)

        def answer() -> None:
            with server.accept()[0] as line:
                line.sendall(b"hello")

        outside = threading.Thread(target=answer, daemon=True)
        outside.start()
        assert play(tmp_path, script, 2, backend, str(server.getsockname()[1])).returns == [0, 0]
        outside.join(120)
        assert not outside.is_alive()


def test_selectors_time_outs_and_event_loops_let_other_ranks_run(tmp_path: Path, backend: Any) -> None:
    """A server in a thread, an event loop with a server, and a connection of multiprocessing each blocked all ranks."""
    script = """
    import asyncio, select, socket, socketserver, threading
    from multiprocessing.connection import Client, Listener

    class Upper(socketserver.StreamRequestHandler):
        def handle(self):
            self.wfile.write(self.rfile.readline().upper())

    async def serve():
        async def answer(reader, writer):
            writer.write(await reader.readline())
            await writer.drain()
            writer.close()
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            comm.send(server.sockets[0].getsockname(), 1)
            while not comm.iprobe(source=1):
                await asyncio.sleep(0.01)

    async def ask(address):
        reader, writer = await asyncio.open_connection(*address)
        writer.write(b"text\\n")
        assert await reader.readline() == b"text\\n"
        writer.close()
        comm.send("done", 0)

    if comm.rank == 0:
        with socketserver.TCPServer(("127.0.0.1", 0), Upper) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            comm.send(server.server_address, 1)
            comm.recv(source=1)
            server.shutdown()
            thread.join()
        asyncio.run(serve())
        comm.recv(source=1)
        with Listener(("127.0.0.1", 0)) as listener:
            comm.send(listener.address, 1)
            with listener.accept() as line:
                line.send(line.recv())
    else:
        with socket.create_connection(comm.recv(source=0), timeout=60) as line:
            line.sendall(b"text\\n")
            assert select.select([line], [], [], 60)[0] and line.recv(9) == b"TEXT\\n"
        comm.send("done", 0)
        asyncio.run(ask(comm.recv(source=0)))
        with Client(comm.recv(source=0)) as line:
            line.send("text")
            assert line.recv() == "text"
    """
    assert play(tmp_path, script, 2, backend).returns == [0, 0]


def test_a_time_out_of_a_socket_is_raised(tmp_path: Path, backend: Any) -> None:
    """After real time, as before."""
    script = """
    import socket
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.01)
        try:
            server.accept()
        except TimeoutError as error:
            assert str(error) == "timed out"
        else:
            assert False
    comm.barrier()
    """
    assert play(tmp_path, script, 2, backend).returns == [0, 0]
