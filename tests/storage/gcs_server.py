"""A server of Google Cloud Storage's protocol for the tests, in memory. Prints "port N" once it serves."""

import argparse
import functools
import http.server

from gcp_storage_emulator.handlers import buckets
from gcp_storage_emulator.server import RequestHandler
from gcp_storage_emulator.storage import Storage


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--bucket", required=True, help="is there from the start")
    options = parser.parse_args()

    storage = Storage(use_memory_fs=True)
    buckets.create_bucket(options.bucket, storage)
    handler = functools.partial(RequestHandler, storage)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", options.port), handler)
    # Clients hang up on answers that they do not want to the end: nothing to report.
    server.handle_error = lambda request, client_address: None
    print(f"port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
