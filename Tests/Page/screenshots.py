"""Takes the pictures of the documentation: screenshots.py IMPORTER FOLDER."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

import stores
from browser import Browser

PEOPLE = 200_000
# In bytes; a clone has all of them.
MOST = 120_000


def main():
    importer, target = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    folder = tempfile.mkdtemp(prefix="importer-page-")
    servers, browser = [], Browser("--hide-scrollbars")

    def serve(name):
        servers.append(stores.Server(importer, os.path.join(folder, name)))
        return servers[-1].address

    def picture(name):
        # No cursor that blinks.
        browser.script("document.activeElement.blur()")
        time.sleep(0.4)
        path = os.path.join(target, f"page-{name}.png")
        browser.picture(path)
        subprocess.run(["pngquant", "--force", "--skip-if-larger", "--strip", "--speed", "1", "--output", path, "64", path], check=False)
        size = os.path.getsize(path)
        print(f"{path}: {size:,} bytes", flush=True)
        if size > MOST:
            sys.exit(f"{path} has more than {MOST:,} bytes")

    def part(name):
        browser.script("document.getElementById(arguments[0]).scrollIntoView()", name)

    try:
        browser.media(prefers_reduced_motion="reduce")
        stores.people(folder, PEOPLE)
        stores.orders(importer, folder, 5000, 50)
        people = serve("people.sqlite")
        browser.open(people)
        slow = stores.SlowImport(
            importer, folder, "people.ndjson", "--into", "people.sqlite", "--model", "people.model.json", "--entity", "people",
            "--quiet", "--workers", "1", "--chunk-size", "1M", share=0.12)
        browser.wait("Number(document.getElementById('progress').getAttribute('aria-valuenow')) >= 58", patience=120)
        picture("running")
        slow.process.wait()
        browser.wait("document.getElementById('state').textContent === 'finished'")
        time.sleep(1.5)
        browser.script("scrollTo(0, 0)")
        picture("finished")
        browser.media(prefers_reduced_motion="reduce", prefers_color_scheme="dark")
        picture("dark")
        browser.media(prefers_reduced_motion="reduce")

        browser.open_records(people + "?section=address_city&where=age+between+30+and+39+and+active")
        browser.wait("document.querySelectorAll('#sections button').length > 3")
        part("browser")
        picture("records")
        browser.open_records(people + "?column=age&sort=-balance")
        browser.wait("document.querySelectorAll('#distribution rect').length > 3 && document.querySelectorAll('#distribution .bars button').length > 3")
        part("browser")
        picture("distribution")
        browser.open(people)
        browser.wait("document.querySelectorAll('#rejects .group').length > 1")
        browser.click("#rejects .group")
        browser.wait("document.querySelectorAll('#rejects .member').length > 3")
        browser.click("#rejects .member")
        browser.wait("document.querySelectorAll('#rejects .detail mark').length > 0")
        part("rejects")
        picture("rejects")

        orders = serve("orders.sqlite")
        browser.open_records(orders + "?record=order%2F17")
        browser.wait("document.querySelectorAll('#panel .related a').length > 1")
        part("browser")
        picture("record")
        browser.open_records(orders)
        part("model")
        picture("model")

        browser.size(360, 740)
        browser.open_records(people)
        browser.script("scrollTo(0, 0)")
        picture("phone")
    finally:
        browser.quit()
        for server in servers:
            server.process.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
