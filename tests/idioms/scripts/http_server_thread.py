"""http.server in a thread of rank 0, urllib on the others."""

import http.server
import threading
import urllib.request
import json
from mpi4py import MPI

comm = MPI.COMM_WORLD


class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"path": self.path}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


port = server = None
if comm.rank == 0:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), H)
    port = server.server_address[1]
    threading.Thread(target=server.serve_forever, daemon=True).start()
port = comm.bcast(port)
with urllib.request.urlopen(f"http://127.0.0.1:{port}/r{comm.rank}", timeout=20) as r:
    print(json.load(r), r.status)
comm.Barrier()
if server:
    server.shutdown()
    server.server_close()
