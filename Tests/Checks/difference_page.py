"""Reads a page of `importer diff --format html` with Python's own parser, and prints as JSON what is in it.

    difference_page.py FILE

Prints what a browser could take for anything but the page's own markup, and exits with 1 then."""
import base64, hashlib, json, sys
from html.parser import HTMLParser

VOID = {"meta"}
TAGS = {"html", "head", "meta", "title", "style", "body", "nav", "h1", "h2", "h3", "h4", "section", "p", "a", "b", "table", "tr",
        "th", "td", "kbd", "main", "ol", "li", "span", "ins", "del", "script"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "class", "id", "tabindex", "href"}


class Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.texts, self.items, self.links, self.ids = [], [], [], [], [], []
        self.policy, self.script, self.style, self.nav = "", "", "", ""

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS: self.wrong.append(f"a tag {tag}")
        for name, value in attributes:
            if name not in ATTRIBUTES: self.wrong.append(f"an attribute {name} of {tag}")
            if name == "href": self.links.append(value)
            if name == "id": self.ids.append(value)
        values = dict(attributes)
        if values.get("http-equiv") == "Content-Security-Policy": self.policy = values["content"]
        if tag == "li": self.items.append([values["class"], len([t for t in self.open if t == "li"]), ""])
        if tag not in VOID: self.open.append(tag)

    def handle_startendtag(self, tag, attributes): self.wrong.append(f"an empty tag {tag}")

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag: self.wrong.append(f"an end of {tag}")

    def handle_comment(self, data): self.wrong.append("a comment")
    def unknown_decl(self, data): self.wrong.append("a declaration")
    def handle_pi(self, data): self.wrong.append("an instruction")

    def handle_data(self, data):
        if any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 for c in data): self.wrong.append(f"controls in {data!r}")
        last = self.open[-1] if self.open else ""
        if last == "script": self.script += data
        elif last == "style": self.style += data
        elif last in ("td", "ins", "del", "th", "span", "h2", "h3", "title", "h1"):
            self.texts.append(data)
            if self.items and last in ("h3", "span"): self.items[-1][2] += data
        elif last == "b" and self.items:
            self.items[-1][2] += data
        if "nav" in self.open: self.nav += data


def main():
    text = open(sys.argv[1], encoding="utf-8", newline="").read()
    page = Page()
    page.feed(text)
    page.close()
    if page.open: page.wrong.append(f"not closed: {page.open}")
    for kind, content in (("script", page.script), ("style", page.style)):
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        if f"{kind}-src 'sha256-{digest}'" not in page.policy: page.wrong.append(f"a policy without the page's {kind}")
    if not page.policy.startswith("default-src 'none'; "): page.wrong.append("a policy that lets it load something")
    for word in ("http:", "https:", "url(", "@import", "src="):
        if word in page.style + page.script: page.wrong.append(f"{word} in its style or script")
    if len(set(page.ids)) != len(page.ids): page.wrong.append("an id twice")
    for link in page.links:
        if not link.startswith("#") or link[1:] not in page.ids: page.wrong.append(f"a link to {link}")
    print(json.dumps({"items": page.items, "texts": page.texts, "nav": page.nav}, ensure_ascii=True))
    print("\n".join(page.wrong), file=sys.stderr)
    return 1 if page.wrong else 0


sys.exit(main())
