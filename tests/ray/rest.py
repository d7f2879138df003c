"""One request to the Jobs API of the head it runs on: rest.py METHOD PATH, the body on standard input.

Prints the answer and exits with 0 for a good one; else prints the error and exits with 1.
"""

import sys
import urllib.error
import urllib.request

method, path = sys.argv[1:]
body = sys.stdin.buffer.read()
kind = "application/octet-stream" if path.startswith("/api/packages") else "application/json"
request = urllib.request.Request(
    "http://127.0.0.1:8265" + path, body or None, {"Content-Type": kind}, method=method
)
try:
    with urllib.request.urlopen(request, timeout=30) as answer:
        sys.stdout.buffer.write(answer.read())
except urllib.error.HTTPError as error:
    sys.exit(f"{error}: {error.read().decode(errors='replace')}")
except urllib.error.URLError as error:
    sys.exit(str(error))
