"""A real S3 server for the tests: moto, behind a front that fails on demand.

The access key of a request says how it is answered:

    unknown    403 InvalidAccessKeyId
    forbidden  403 AccessDenied
    expired    400 ExpiredToken
    busy       503 SlowDown, two times of three
    broken     500 InternalError for an upload's second part
    deaf       the same, and for the end of the upload that was given up
    GIVEN<n>   keys from /v1/credentials?live=SECONDS, the agent of EKS Pod Identity: 400 ExpiredToken
               once they have lived so long
    others     as S3 does

One part of an upload may have another fate: --part 2 --of TEXT --fate FATE, for the second parts of values
with TEXT in their keys:

    die   the server ends
    hold  the first of them is never answered; prints "holds KEY"
    deny  403 AccessDenied

Prints "port N" once it serves, and "gave KEY" for each key given. Ends when it is killed.
"""

import argparse
import datetime
import json
import logging
import os
import threading
import urllib.parse

from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import make_server

ERROR = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>{}</Code><Message>{}</Message></Error>'
TOKEN = "pod-identity-token"


def utc_now():
    return datetime.datetime.now(datetime.timezone.utc)


def error(status, code, message):
    return status, "application/xml", ERROR.format(code, message)


EXPIRED = error("400 Bad Request", "ExpiredToken", "The provided token has expired.")
BROKEN = error("500 Internal Server Error", "InternalError", "We encountered an internal error.")
ALWAYS = {
    "unknown": error("403 Forbidden", "InvalidAccessKeyId",
                     "The AWS Access Key Id you provided does not exist in our records."),
    "forbidden": error("403 Forbidden", "AccessDenied", "Access Denied"),
    "expired": EXPIRED,
}
HOLD = "hold"


class Front:
    """WSGI: answers what the access key asks for, and passes the rest to moto."""

    def __init__(self, part, of, fate):
        self.part, self.of, self.fate = part, of, fate
        self.holds = False
        self.server = DomainDispatcherApplication(create_backend_app)
        self.lock = threading.Lock()
        self.expirations = {}  # of the keys that were given
        self.num_busy = 0

    def __call__(self, environ, start_response):
        query = urllib.parse.parse_qs(environ["QUERY_STRING"], keep_blank_values=True)
        with self.lock:
            if environ["PATH_INFO"] == "/v1/credentials":
                answer = self.give_keys(environ, float(query["live"][0]))
            else:
                answer = self.refusal(environ, query)
        if answer == HOLD:
            threading.Event().wait()
        if answer is None:
            return self.server(environ, start_response)
        status, content_type, body = answer
        body = b"" if environ["REQUEST_METHOD"] == "HEAD" else body.encode()
        start_response(status, [("Content-Type", content_type), ("Content-Length", str(len(body)))])
        return [body]

    def give_keys(self, environ, live):
        if environ.get("HTTP_AUTHORIZATION") != TOKEN:
            return "401 Unauthorized", "text/plain", "wrong token"
        expiration = utc_now() + datetime.timedelta(seconds=live)
        key = f"GIVEN{len(self.expirations) + 1}"
        self.expirations[key] = expiration
        print(f"gave {key}", flush=True)
        answer = {"AccessKeyId": key, "SecretAccessKey": "secret", "Token": "session",
                  "Expiration": expiration.strftime("%Y-%m-%dT%H:%M:%SZ")}
        return "200 OK", "application/json", json.dumps(answer)

    def refusal(self, environ, query):
        part = query.get("partNumber", [""])[0]
        if part == str(self.part) and self.of in environ["PATH_INFO"]:
            if self.fate == "die":
                os._exit(1)
            if self.fate == "deny":
                return ALWAYS["forbidden"]
            if not self.holds:
                self.holds = True
                print(f"holds {environ['PATH_INFO']}", flush=True)
                return HOLD
        key = environ.get("HTTP_AUTHORIZATION", "").partition("Credential=")[2].partition("/")[0]
        if key in ALWAYS:
            return ALWAYS[key]
        if key in self.expirations and self.expirations[key] <= utc_now():
            return EXPIRED
        if key == "busy":
            self.num_busy += 1
            if self.num_busy % 3 != 0:
                return error("503 Service Unavailable", "SlowDown", "Please reduce your request rate.")
        if key in ("broken", "deaf") and part == "2":
            return BROKEN
        if key == "deaf" and environ["REQUEST_METHOD"] == "DELETE" and "uploadId" in query:
            return BROKEN
        return None


def make_bucket(name, num_keys):
    """A bucket with the keys many/00000, many/00001, ..."""
    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    backend.create_bucket(name, "us-east-1")
    for i in range(num_keys):
        backend.put_object(name, f"many/{i:05}", b"x")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0, help="0: any free one")
    parser.add_argument("--bucket", required=True, help="is there from the start")
    parser.add_argument("--num-keys", type=int, default=0, help="that are in it")
    parser.add_argument("--tls", action="store_true", help="with a certificate that nobody signed")
    parser.add_argument("--part", type=int, help="number of the part that has another fate")
    parser.add_argument("--of", default="", help="text in the keys of the values that it is part of")
    parser.add_argument("--fate", choices=["die", "hold", "deny"], default="die")
    options = parser.parse_args()

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    make_bucket(options.bucket, options.num_keys)
    server = make_server("127.0.0.1", options.port, Front(options.part, options.of, options.fate), threaded=True,
                         ssl_context="adhoc" if options.tls else None)
    print(f"port {server.port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
