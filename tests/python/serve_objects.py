"""Object storage on this machine: moto's S3 on a port of its own, which is printed.

Requests are answered one after another, so that of several conditional writes one wins, as the
storage promises. Ends when its standard input does, and so with whoever started it.
"""

import sys
import threading

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server


class Quiet(WSGIRequestHandler):
    def log_request(self, *_):
        pass


app = DomainDispatcherApplication(create_backend_app)
server = make_server("127.0.0.1", 0, app, threaded=False, request_handler=Quiet)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_port, flush=True)
sys.stdin.read()
