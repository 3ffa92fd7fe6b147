"""Tests the page of `importer serve` in a headless browser: page_test.py IMPORTER [CHECK]..."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

from selenium.webdriver.common.keys import Keys

import accessibility
import stores
from browser import Browser

PAGE = os.path.join(stores.ROOT, "Sources", "ImportServer", "Page", "index.html")
PEOPLE = 20_000
CHECKS = []


def check(title):
    def register(function):
        CHECKS.append((function.__name__, title, function))
        return function
    return register


def equal(found, expected):
    assert found == expected, f"{found!r}, not {expected!r}"


def grouped(number):
    return f"{number:,}"


class Fixture:
    """The stores, the servers that show them, and the browser."""

    def __init__(self, importer):
        self.importer = importer
        self.folder = tempfile.mkdtemp(prefix="importer-page-")
        self.browser = None
        self.servers = {}
        self.started = []
        stores.people(self.folder, PEOPLE)
        stores.import_people(importer, self.folder, "people.sqlite")
        stores.orders(importer, self.folder, 1000, 25)
        stores.hostile(importer, self.folder)
        for name in ("people", "orders", "hostile"):
            self.serve(name)
        self.browser = Browser()

    def path(self, name):
        return os.path.join(self.folder, name)

    def serve(self, name, **options):
        self.servers[name] = stores.Server(self.importer, self.path(name + ".sqlite"), **options)
        self.started.append(self.servers[name])
        return self.servers[name]

    def address(self, name, query=""):
        return self.servers[name].address + query

    def rows(self, sql, store="people"):
        return stores.query(self.folder, store + ".sqlite", sql)

    def close(self):
        if self.browser:
            self.browser.quit()
        for server in self.started:
            server.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@check("the page is one document of at most 100 kB, without handlers, styles or HTML in strings")
def document(fixture):
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    assert len(text.encode()) <= 100_000, f"{len(text.encode())} bytes"
    equal((text.count("<script"), text.count("<style")), (1, 1))
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", "https://"):
        assert word not in text, word
    # The names of the language of drawings are addresses that nobody asks for.
    equal(text.count("http://"), text.count("http://www.w3.org/2000/svg"))
    assert "importer status" in text[text.index("<noscript>"):text.index("</noscript>")]


@check("loads: state, figures, counts per entity, landmarks")
def loads(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    equal(browser.text("#state"), "finished")
    assert browser.text("#headline").startswith("Imported people"), browser.text("#headline")
    equal(browser.text("#records-read"), grouped(PEOPLE))
    equal(browser.value("document.getElementById('progress').getAttribute('aria-valuenow')"), "100")
    inserted, = fixture.rows("SELECT count(*) FROM people")[0]
    equal(browser.texts("#counts-rows tr > *")[:4], ["people", grouped(inserted), grouped(PEOPLE), grouped(inserted)])
    for selector in ("header", "main", "footer", "nav", "h1", "#plot", "#rejects", "#ledger", "#jobs", "#browser"):
        assert browser.value("!!document.querySelector(arguments[0])", selector), selector
    assert "people" in browser.text("#ledger-body") and "finished" in browser.text("#jobs-body")
    pairs = browser.texts("#jobs-body dl.job div")
    assert "modelgiven" in pairs and "entitypeople" in pairs, pairs


@check("each source has its progress, each relationship its links")
def sources(fixture):
    browser = fixture.browser
    for name in ("a", "b"):
        stores.write(fixture.path(name + ".json"), json.dumps([{"n": index} for index in range(9)]))
    stores.run(fixture.importer, fixture.folder, "import", "a.json", "b.json", "--into", "two.sqlite", "--entity", "n", "--quiet")
    browser.open_records(fixture.serve("two").address)
    size = f"{len(json.dumps([{'n': index} for index in range(9)]))} bytes"
    equal(browser.texts("#sources-table tbody tr"), [f"{name}.jsonfinished{size}{size}9" for name in ("a", "b")])
    browser.open_records(fixture.address("orders"))
    equal(browser.value("document.getElementById('sources').hidden"), True)
    links, = fixture.rows("SELECT count(customer_id) FROM \"order\"", "orders")[0]
    browser.wait("[...document.querySelectorAll('#relationships tbody tr')].some(row => row.cells[0].textContent === 'order.customer'"
                 " && row.cells[4].textContent === arguments[0])", grouped(links))


@check("waits for a store, and fills while an import runs, without a reload")
def live(fixture):
    browser = fixture.browser
    server = fixture.serve("live")
    browser.open(server.address)
    equal(browser.text("#state"), "waiting")
    browser.script("window.same = true")
    run = stores.SlowImport(
        fixture.importer, fixture.folder, "people.ndjson", "--into", "live.sqlite", "--model", "people.model.json", "--entity",
        "people", "--quiet", "--workers", "1", "--chunk-size", "256K", "--commit-every", "500", share=0.02)
    browser.wait("Number(document.getElementById('records-read').textContent.replace(/,/g, '')) > 0")
    now = browser.wait("document.getElementById('progress').getAttribute('aria-valuenow')")
    assert 0 <= int(now) <= 100, now
    browser.wait("document.querySelectorAll('#browser-rows tbody tr').length > 3")
    browser.click("th[data-attribute=age]")
    browser.wait("!document.getElementById('fresh').hidden")
    assert browser.text("#fresh").endswith(" new: show"), browser.text("#fresh")
    first = browser.texts("#browser-rows tbody tr:nth-child(-n+5)")
    time.sleep(0.5)
    equal(browser.texts("#browser-rows tbody tr:nth-child(-n+5)"), first)
    browser.script("document.getElementById('fresh').click()")
    # It has a line once there are two seconds of it.
    browser.wait("!!document.querySelector('#plot svg path.records') && !!document.querySelector('#plot svg path.commits')")
    run.finish()
    browser.wait("document.getElementById('state').textContent === 'finished'")
    browser.wait("document.getElementById('progress').getAttribute('aria-valuenow') === '100'")
    inserted, = fixture.rows("SELECT count(*) FROM people", "live")[0]
    browser.wait("document.getElementById('browser-count').textContent === arguments[0]", grouped(inserted))
    assert browser.value("document.querySelectorAll('#plot table tbody tr').length > 1")
    browser.wait("document.querySelectorAll('#rejects .group').length > 0")
    assert browser.value("window.same === true")


@check("a merge marks the rows that it changes, and nothing moves")
def merge(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("live"))
    browser.script("document.getElementById('window').scrollTop = 340")
    keys = browser.wait("[...document.querySelectorAll('#browser-rows tr[data-key]')].map(row => row.dataset.key)")
    key = keys[len(keys) // 2]
    record = fixture.rows(f"SELECT id FROM people WHERE rowid = {key}", "live")[0][0]
    stores.write(fixture.path("change.ndjson"), f'{{"id": {record}, "note": "changed by a merge"}}\n')
    time.sleep(0.3)
    top = browser.value("document.getElementById('window').scrollTop")
    stores.import_people(fixture.importer, fixture.folder, "live.sqlite", "change.ndjson")
    browser.wait("!!document.querySelector(`#browser-rows tr.changed[data-key='${arguments[0]}']`)", key)
    assert "changed by a merge" in browser.text(f"#browser-rows tr[data-key='{key}']")
    equal(browser.value("document.getElementById('window').scrollTop"), top)
    # New rows are at the end of this order, so they are not shown before somebody asks.
    line = fixture.rows("SELECT max(id) + 1 FROM people", "live")[0][0]
    with open(fixture.path("people.ndjson"), encoding="utf-8") as file:
        record = json.loads(file.readline())
    stores.write(fixture.path("more.ndjson"), json.dumps({**record, "id": line}) + "\n")
    stores.import_people(fixture.importer, fixture.folder, "live.sqlite", "more.ndjson")
    browser.wait("document.getElementById('fresh').textContent === '1 new: show' && !document.getElementById('fresh').hidden")
    browser.script("document.getElementById('fresh').click()")
    browser.wait("document.querySelector('#browser-rows tr[data-key]').classList.contains('new')")
    equal(browser.column("id")[0], str(line))


@check("what takes long to read is not read again and again while an import runs")
def dear(fixture):
    browser = fixture.browser
    # Fewer than a page, which would be read again with each commit.
    browser.open_records(fixture.address("live", "?where=id+%3C+20&sort=note"))
    browser.script("""
        const real = window.fetch;
        window.asked = 0;
        window.fetch = async (path, ...rest) => {
            if (String(path).includes("/api/records/")) {
                window.asked += 1;
                await new Promise(done => setTimeout(done, 300));
            }
            return real(path, ...rest);
        };
        document.getElementById("predicate").value = "id < 21";
        document.getElementById("browser-form").requestSubmit();""")
    browser.wait("window.asked === 1 && document.getElementById('busy').hidden")
    first, = fixture.rows("SELECT max(id) + 1000 FROM people", "live")[0]
    with open(fixture.path("people.ndjson"), encoding="utf-8") as file:
        record = json.loads(file.readline())
    until = time.monotonic() + 4
    while time.monotonic() < until:
        first += 1
        stores.write(fixture.path(f"more{first}.ndjson"), json.dumps({**record, "id": first}) + "\n")
        stores.import_people(fixture.importer, fixture.folder, "live.sqlite", f"more{first}.ndjson")
        time.sleep(0.3)
    equal(browser.value("window.asked"), 1)
    # Afterwards it comes up to date by itself.
    browser.wait("window.asked === 2")


@check("an import is followed with few requests")
def few(fixture):
    browser = fixture.browser
    browser.open(fixture.serve("few").address)
    browser.script("performance.clearResourceTimings()")
    run = stores.SlowImport(
        fixture.importer, fixture.folder, "people.ndjson", "--into", "few.sqlite", "--model", "people.model.json", "--entity",
        "people", "--quiet", "--workers", "1", "--chunk-size", "256K", "--commit-every", "500", share=0.1)
    browser.wait("document.querySelectorAll('#browser-rows tr[data-key]').length > 3")
    # As long as rows that have changed take to be read again.
    time.sleep(2)
    run.finish()
    browser.wait("document.getElementById('state').textContent === 'finished'")
    time.sleep(1)
    asked = browser.value("performance.getEntriesByType('resource').map(entry => new URL(entry.name).pathname)")
    # Everything at the beginning, once more where there was no table yet, and at the end.
    assert asked.count("/api/status") <= 3, asked
    # What was inserted has not changed since it was read, and nobody has scrolled: rows are read with everything, and once more where
    # some came meanwhile, but not with each of the commits.
    assert not [path for path in asked if path.startswith("/api/record/")], asked
    assert asked.count("/api/records/people") <= 2 * asked.count("/api/status"), asked
    commits, = fixture.rows("SELECT commits FROM _import_job ORDER BY id DESC LIMIT 1", "few")[0]
    assert commits > 20, commits


@check("import --serve shows the same page")
def own(fixture):
    process = subprocess.Popen(
        [fixture.importer, "import", "long.json", "--into", "own.sqlite", "--serve", "--port", "0"], cwd=fixture.folder,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    try:
        fixture.browser.open_records(stores.address(process.stdout))
        fixture.browser.wait("document.getElementById('state').textContent === 'finished'")
    finally:
        process.kill()


@check("sorts by a click on a column, up, down and not at all")
def sort(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    for order, sign, aria in (("ASC", "", "ascending"), ("DESC", "-", "descending")):
        browser.click("th[data-attribute=balance]")
        browser.wait("new URLSearchParams(location.search).get('sort') === arguments[0]", sign + "balance")
        expected = [str(key) for key, in fixture.rows(f"SELECT rowid FROM people ORDER BY balance {order}, rowid {order} LIMIT 12")]
        browser.wait("[...document.querySelectorAll('#browser-rows tr[data-key]')].slice(0, 12).map(row => row.dataset.key).join()"
                     " === arguments[0]", ",".join(expected))
        equal(browser.value("document.querySelector('th[data-attribute=balance]').getAttribute('aria-sort')"), aria)
    # Another order begins at its top, and going back leads to where one was.
    browser.wait("document.getElementById('pad').offsetHeight > 3000")
    browser.script("document.getElementById('window').scrollTop = 1700")
    time.sleep(0.2)
    browser.script("document.querySelector('th[data-attribute=balance]').click()")
    browser.wait("document.querySelector('#browser-rows tr[data-key]').dataset.key === '1'")
    equal(browser.value("document.getElementById('window').scrollTop"), 0)
    browser.driver.back()
    browser.wait("document.getElementById('window').scrollTop === 1700")


@check("filters by a predicate; a wrong one is explained, and its place marked")
def predicate(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    browser.predicate("age between 30 and 39 and address_city = 'Eger'")
    count, = fixture.rows("SELECT count(*) FROM people WHERE age BETWEEN 30 AND 39 AND address_city = 'Eger'")[0]
    browser.wait("document.getElementById('browser-count').textContent.startsWith(arguments[0] + ' of ')", grouped(count))
    equal(set(browser.column("address_city")), {"Eger"})
    for text, place in (("agee > 3", "agee"), ("name = 'Ada' and years < 3", "years"), ("age >", "▲")):
        browser.predicate(text)
        browser.wait("!document.getElementById('predicate-error').hidden && new URLSearchParams(location.search).get('where') === arguments[0]"
                     " && document.querySelector('#predicate-error mark')", text)
        browser.wait("document.querySelector('#predicate-error mark').textContent === arguments[0]", place)
        equal(browser.value("document.getElementById('predicate').getAttribute('aria-invalid')"), "true")
        assert len(browser.text("#predicate-error p")) > 10
    browser.click("#predicate-clear")
    browser.wait("document.getElementById('predicate-error').hidden && document.querySelectorAll('#browser-rows tr[data-key]').length > 10")


@check("makes sections with counts, and jumps to them")
def sections(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people", "?section=address_city"))
    counts = fixture.rows("SELECT address_city, count(*) FROM people GROUP BY 1 ORDER BY 1")
    browser.wait("document.querySelectorAll('#sections button').length === arguments[0]", len(counts))
    equal(browser.texts("#sections button"), [f"{city}{grouped(count)}" for city, count in counts])
    equal(browser.text("#browser-rows tr.section"), f"{counts[0][0]} · {grouped(counts[0][1])}")
    browser.click("#sections li:last-child button")
    browser.wait("document.querySelector('#browser-rows tr.section').textContent.startsWith(arguments[0])", counts[-1][0])
    equal(set(browser.column("address_city")), {counts[-1][0]})
    browser.driver.back()
    browser.wait("document.querySelector('#browser-rows tr.section').textContent.startsWith(arguments[0])", counts[0][0])


@check("scrolls through thousands of rows with few of them in the document")
def scroll(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    start = time.monotonic()
    for _ in range(200):
        browser.script("const pane = document.getElementById('window'); pane.scrollTop = pane.scrollHeight")
        key = browser.value("Number([...document.querySelectorAll('#browser-rows tr[data-key]')].pop()?.dataset.key || 0)")
        if key > 5000:
            break
        time.sleep(0.05)
    assert key > 5000, f"only {key} in {time.monotonic() - start:.1f} s"
    assert browser.value("document.querySelectorAll('#browser-rows tr').length") < 80
    keys = browser.value("[...document.querySelectorAll('#browser-rows tr[data-key]')].map(row => Number(row.dataset.key))")
    expected = fixture.rows(f"SELECT rowid FROM people WHERE rowid BETWEEN {keys[0]} AND {keys[-1]} ORDER BY rowid")
    equal(keys, [key for key, in expected])
    browser.script("document.getElementById('window').scrollTop = 0")
    browser.wait("document.querySelector('#browser-rows tr[data-key]').dataset.key === '1'")


@check("shows a record in full, follows links to related ones, and comes back")
def record(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("orders"))
    browser.click("#browser-rows tr[data-key='5'] td")
    browser.wait("!document.getElementById('panel').hidden && document.querySelectorAll('#panel dd').length > 2")
    order = fixture.rows('SELECT o.id, c.rowid FROM "order" o JOIN customer c ON c.id = o.customer_id WHERE o.rowid = 5', "orders")[0]
    equal(browser.text("#panel dd"), str(order[0]))
    text = browser.text("#origin")
    with open(fixture.path("orders/orders.ndjson"), encoding="utf-8") as file:
        line = next(number for number, line in enumerate(file, 1) if json.loads(line)["id"] == order[0])
    assert text.startswith(f"from orders/orders.ndjson, job 1, line {line}, byte "), text
    links = browser.texts("#panel .related a")
    assert f"customer {order[1]}" in links, links
    browser.click_text("#panel .related a", f"customer {order[1]}")
    browser.wait("document.getElementById('panel-title').textContent === arguments[0]", f"customer {order[1]}")
    assert "5" in "".join(browser.texts("#panel .related a")), "no way back"
    browser.driver.back()
    browser.wait("document.getElementById('panel-title').textContent === 'order 5'")


@check("shows rejects by group, one with its bytes, the fault marked, and how to repair it")
def reject(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    browser.wait("document.querySelectorAll('#rejects .group').length === 2")
    expected = len(range(300, PEOPLE, 997))
    assert browser.text("#rejects .group").startswith(grouped(expected)), browser.text("#rejects .group")
    browser.click("#rejects .group")
    browser.wait("document.querySelectorAll('#rejects .member').length === 20")
    browser.click("#rejects .member")
    browser.wait("document.querySelectorAll('#rejects .detail mark').length === 1")
    equal(browser.text("#rejects .detail mark"), '"n/a"')
    assert '"guid"' in browser.text("#rejects .bytes-of")
    assert any("importer retry people.sqlite" in text for text in browser.texts("#rejects .command code"))


@check("shows the distribution of a column: histogram, frequent values, nulls")
def distribution(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    browser.click("th[data-attribute=age] .spread")
    browser.wait("document.querySelectorAll('#distribution rect').length > 3")
    browser.open_records(fixture.address("people", "?column=note"))
    browser.wait("document.querySelectorAll('#distribution .bars button').length > 1")
    nulls, = fixture.rows("SELECT count(*) FROM people WHERE note IS NULL")[0]
    assert f"{grouped(nulls)} nulls" in browser.text("#distribution .head"), browser.text("#distribution .head")
    browser.script("document.querySelector('#distribution .bars button').click()")
    browser.wait("document.getElementById('predicate').value.startsWith('note = ')")
    browser.wait("document.getElementById('predicate-error').hidden && document.querySelectorAll('#browser-rows tr[data-key]').length > 1")
    equal(len(set(browser.column("note"))), 1)


@check("draws the model; an entity in it leads to its records")
def diagram(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("orders"))
    names = sorted(browser.texts("#diagram .title"))
    equal(names, ["address", "customer", "line", "maker", "order", "part", "product", "tag"])
    assert browser.value("document.querySelectorAll('#diagram .edge').length") >= 7
    boxes = browser.value("[...document.querySelectorAll('#diagram .box')].map(box => { const r = box.getBoundingClientRect();"
                          "return [r.left, r.top, r.right, r.bottom] })")
    for index, a in enumerate(boxes):
        for b in boxes[:index]:
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], "boxes overlap"
    browser.click_text("#diagram .title", "product")
    browser.wait("document.getElementById('entity').value === 'product'")


@check("hostile names and values stay text: markup, control characters, directions")
def hostile(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("hostile", "?entity=hostile"))
    heads = browser.value("[...document.querySelectorAll('#browser-rows th[data-attribute]')].map(head => head.dataset.attribute)")
    equal(sorted(heads), sorted(stores.HOSTILE))
    for name in ("<script>window.hit = 1</script>", "<img src=x onerror='window.hit = 3'>", "markup", "style", "address"):
        equal(browser.column(name)[0], stores.HOSTILE[name])
    assert "U+202E" in browser.column("direction")[0] and "␛" in browser.column("control")[0]
    browser.click("#browser-rows tr[data-key='1'] td")
    browser.wait("document.querySelectorAll('#panel dd').length > 5")
    browser.keys(Keys.ESCAPE)
    browser.wait("document.getElementById('panel').hidden")
    browser.click("th[data-attribute=markup] .spread")
    browser.wait("document.querySelectorAll('#distribution .bars button').length > 0")
    time.sleep(0.2)
    equal(browser.value("[window.hit, document.scripts.length, document.images.length, document.querySelectorAll('[style*=position]').length]"),
          [None, 1, 0, 0])


@check("a text of 1 MB and 2,000 columns are shown in parts")
def large(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("hostile", "?entity=long&record=long%2F1"))
    browser.wait("document.querySelectorAll('#panel dd').length > 1")
    assert len(browser.column("text")[0]) < 1100
    browser.click("#panel dd button")
    browser.wait("document.getElementById('panel').textContent.length > arguments[0]", len(stores.LONG))
    start = time.monotonic()
    browser.open_records(fixture.address("hostile", "?entity=wide"))
    equal(browser.value("document.querySelectorAll('#browser-rows th[data-attribute]').length"), 40)
    equal(browser.column("c0"), ["<b>0 0", "<b>1 0", "<b>2 0"])
    browser.click("#columns button:last-child")
    browser.wait("document.querySelector('#browser-rows th[data-attribute]').dataset.attribute === 'c40'")
    browser.open_records(fixture.address("hostile", "?entity=wide&columns=1960"))
    equal(browser.column("c1999")[0], "<b>0 1999")
    assert time.monotonic() - start < 20


@check("the address holds what is shown: reload, back and forward")
def address(fixture):
    browser = fixture.browser
    where = "?where=age+%3E+60&sort=-age&section=address_city&record=people%2F7&column=age"
    browser.open_records(fixture.address("people", where))
    shown = ("[document.getElementById('predicate').value, document.getElementById('section').value,"
             " document.querySelector('th[data-attribute=age]').getAttribute('aria-sort'),"
             " (document.getElementById('panel-title') || {}).textContent, document.getElementById('distribution').hidden].join()")
    browser.wait(shown + " === 'age > 60,address_city,descending,people 7,false'")
    browser.driver.refresh()
    browser.wait(shown + " === 'age > 60,address_city,descending,people 7,false'")
    browser.keys(Keys.ESCAPE)
    browser.wait("document.getElementById('panel').hidden")
    browser.click("#predicate-clear")
    browser.wait("document.getElementById('predicate').value === ''")
    browser.driver.back()
    browser.wait("document.getElementById('predicate').value === 'age > 60' && document.getElementById('panel').hidden")
    browser.driver.back()
    browser.wait("!document.getElementById('panel').hidden")
    browser.driver.forward()
    browser.wait("document.getElementById('panel').hidden")


@check("keys: / j k Enter Esc ?")
def keyboard(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    browser.keys("/")
    browser.wait("document.activeElement.id === 'predicate'")
    browser.keys("jk?")
    equal(browser.value("document.getElementById('predicate').value"), "jk?")
    browser.keys(Keys.ESCAPE)
    browser.keys("jjjk")
    browser.wait("document.activeElement.dataset.key === '2'")
    assert browser.value("getComputedStyle(document.activeElement).outlineStyle") != "none", "the focus is not visible"
    browser.keys(Keys.ENTER)
    browser.wait("!document.getElementById('panel').hidden && document.getElementById('panel-title').textContent === 'people 2'")
    browser.keys("j")
    browser.wait("document.getElementById('panel-title').textContent === 'people 3'")
    browser.keys(Keys.ESCAPE)
    browser.wait("document.getElementById('panel').hidden && document.activeElement.dataset.key === '3'")
    browser.keys("?")
    browser.wait("document.getElementById('help').open")
    browser.keys(Keys.ESCAPE)
    browser.wait("!document.getElementById('help').open")


@check("dark, and without motion, as the system asks for it")
def dark(fixture):
    browser = fixture.browser
    browser.open_records(fixture.address("people"))
    color = "getComputedStyle(document.body).backgroundColor"
    light = browser.value(color)
    browser.media(prefers_color_scheme="dark", prefers_reduced_motion="reduce")
    assert browser.value(color) != light
    assert max(int(part) for part in browser.value(color)[4:-1].split(",")) < 60, browser.value(color)
    equal(browser.value("getComputedStyle(document.getElementById('bar-done')).transitionDuration"), "0s")
    browser.media()


@check("360 pixels wide: tables scroll in themselves, never the page")
def phone(fixture):
    browser = fixture.browser
    browser.size(360, 740)
    for name, query in (("people", "?section=address_city&column=age&where=age+%3E+20"), ("people", "?record=people%2F7&where=agee+=+1"),
                        ("orders", ""), ("hostile", "?entity=hostile"), ("hostile", "?entity=wide&record=wide%2F1")):
        if "agee" in query:
            browser.open(fixture.address(name, query))
        else:
            browser.open_records(fixture.address(name, query))
        if name == "people" and "column" in query:
            browser.wait("document.querySelectorAll('#rejects .group').length > 0")
            browser.click("#rejects .group")
            browser.wait("document.querySelectorAll('#rejects .member').length > 0")
            browser.click("#rejects .member")
            browser.wait("document.querySelectorAll('#rejects .detail mark').length > 0")
        time.sleep(0.2)
        equal(browser.value("document.documentElement.scrollWidth - document.documentElement.clientWidth"), 0)
        pane = browser.value("['scrollWidth', 'clientWidth'].map(name => document.getElementById('window')[name])")
        assert pane[0] > pane[1] or "agee" in query, f"{name}{query}: {pane}"
    browser.size()


@check("nothing keeps people from reading it, in any state")
def accessible(fixture):
    browser = fixture.browser
    states = [("people", "?section=address_city&column=age&record=people%2F7", {}), ("people", "?where=agee+=+1", {}),
              ("people", "?sort=-age", {"prefers_color_scheme": "dark"}), ("orders", "", {}),
              ("hostile", "?entity=hostile&column=direction", {"prefers_color_scheme": "dark"})]
    found = []
    for name, query, media in states:
        browser.media(**media)
        browser.open(fixture.address(name, query))
        browser.wait("document.getElementById('busy').hidden")
        browser.wait("document.querySelectorAll('#rejects-body *').length > 0 && document.querySelectorAll('#jobs-body *').length > 0")
        if "sort" in query or name == "orders":
            browser.click("#rejects .group")
            browser.wait("document.querySelectorAll('#rejects .member').length > 0")
            browser.click("#rejects .member")
            browser.wait("document.querySelectorAll('#rejects .detail mark').length > 0")
        time.sleep(0.3)
        found += [f"{name}{query}: {text}" for text in accessibility.violations(browser)]
    browser.media()
    browser.size(360, 740)
    browser.open_records(fixture.address("people"))
    found += ["360 pixels: " + text for text in accessibility.violations(browser)]
    browser.size()
    browser.open(fixture.serve("nothing").address)
    found += ["waiting: " + text for text in accessibility.violations(browser)]
    assert not found, "\n    ".join(found)


@check("a lost connection is said, and found again")
def lost(fixture):
    browser = fixture.browser
    server = fixture.serve("people")
    browser.open_records(server.address + "?entity=people")
    port = int(server.address.split(":")[-1].strip("/"))
    server.process.kill()
    server.process.wait()
    browser.wait("!document.getElementById('lost').hidden")
    assert "lost" in browser.text("#lost-text")
    assert browser.value("document.querySelectorAll('#browser-rows tr[data-key]').length > 10")
    fixture.serve("people", port=port)
    browser.wait("document.getElementById('lost').hidden")
    browser.click("th[data-attribute=age]")
    browser.wait("document.querySelector('th[data-attribute=age]').getAttribute('aria-sort') === 'ascending'")


# What the console says of answers that are meant to be: a predicate that is wrong, a server that is not there.
EXPECTED = ["status of 400", "ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_EMPTY_RESPONSE", "ERR_CONNECTION_RESET"]


def main():
    importer, wanted = os.path.abspath(sys.argv[1]), sys.argv[2:]
    unknown = set(wanted) - {name for name, _, _ in CHECKS}
    if unknown:
        print("There is no check " + ", ".join(sorted(unknown)) + ": there are " + ", ".join(name for name, _, _ in CHECKS), file=sys.stderr)
        sys.exit(64)
    start = time.monotonic()
    fixture = Fixture(importer)
    failed, messages, elsewhere = 0, [], []
    try:
        print(f"{time.monotonic() - start:5.1f} s  stores, servers and browser are there; looked at with {accessibility.name()}", flush=True)
        for name, title, function in CHECKS:
            if wanted and name not in wanted:
                continue
            began = time.monotonic()
            try:
                function(fixture)
                said = "ok"
            except Exception as error:  # each check is told by itself
                failed += 1
                said = "FAILED"
                if isinstance(error, AssertionError):
                    print(f"    {error}")
                else:
                    traceback.print_exc(limit=-3)
                fixture.browser.media()
                fixture.browser.size()
            messages += [text for text in fixture.browser.console() if not any(known in text for known in EXPECTED)]
            own = {server.address for server in fixture.started}
            elsewhere += [url for url in fixture.browser.requests()
                          if not url.startswith(("data:", "http://127.0.0.1:")) and not any(url.startswith(each) for each in own)]
            print(f"{time.monotonic() - began:5.1f} s  {said}: {title} ({name})", flush=True)
    finally:
        fixture.close()
    for title, found in (("the console says nothing", messages), ("no request goes elsewhere", elsewhere)):
        print(f"         {'FAILED' if found else 'ok'}: {title}")
        for text in found[:10]:
            print("    " + text[:300])
        failed += bool(found)
    print(f"{(len(wanted) or len(CHECKS)) + 2} checks in {time.monotonic() - start:.0f} s" + (f", {failed} failed." if failed else ": all right."))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
