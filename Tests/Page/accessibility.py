"""Looks for what keeps people from reading the page: axe-core where it is installed, and otherwise a script of our own."""

import glob
import os
import re
import sysconfig

# WCAG 2.2 AA, and axe-core's own advice.
RUN = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })
  .then(result => done(result.violations.map(violation => violation.id + ": " + violation.help + ": "
    + violation.nodes.slice(0, 3).map(node => node.target.join(" ") + " (" + (node.failureSummary || "").replace(/\\s+/g, " ") + ")").join("; "))))
  .catch(error => done([String(error)]));
"""

# Roles, names and contrasts, as far as they can be seen without a library.
OWN = """
const found = [], shown = node => node.checkVisibility && node.checkVisibility({ visibilityProperty: true });
const name = node => (node.getAttribute("aria-label") || (node.getAttribute("aria-labelledby") || "").split(" ").map(id => id && document.getElementById(id)
  ? document.getElementById(id).textContent : "").join(" ") || (node.labels && [...node.labels].map(label => label.textContent).join(" ")) || node.textContent || node.title || "").trim();
for (const node of document.querySelectorAll("a[href], button, input, select, summary, [role=region], [role=dialog], [role=progressbar], [role=img], nav, dialog[open]"))
  if (shown(node) && !name(node)) found.push("no name: " + node.outerHTML.slice(0, 80));
for (const [role, least] of [["main", 1], ["header", 1], ["footer", 1], ["nav", 1], ["h1", 1]])
  if (document.querySelectorAll(role).length < least) found.push("there is no " + role);
const ids = [...document.querySelectorAll("[id]")].map(node => node.id);
for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push("twice the id " + id);
for (const node of document.querySelectorAll("[aria-controls], [aria-labelledby], [aria-describedby]"))
  for (const key of ["aria-controls", "aria-labelledby", "aria-describedby"])
    for (const id of (node.getAttribute(key) || "").split(" ")) if (id && !document.getElementById(id)) found.push(key + " names nothing: " + id);
const parts = color => (color.match(/[\\d.]+/g) || []).map(Number);
const light = ([r, g, b]) => [r, g, b].map(part => part / 255).map(part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4).reduce((sum, part, index) => sum + part * [.2126, .7152, .0722][index], 0);
const behind = node => { for (let each = node; each; each = each.parentElement) { const color = parts(getComputedStyle(each).backgroundColor); if (color.length === 3 || color[3] === 1) return color; } return [255, 255, 255]; };
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const node = walker.currentNode.parentElement;
  if (!walker.currentNode.textContent.trim() || !shown(node) || node.closest("svg, script, style, .unseen, [disabled]")) continue;
  const style = getComputedStyle(node), [a, b] = [light(parts(style.color)), light(behind(node))].sort((x, y) => y - x), ratio = (a + .05) / (b + .05);
  const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
  if (ratio < (isLarge ? 3 : 4.5)) found.push("contrast " + ratio.toFixed(2) + ": " + walker.currentNode.textContent.trim().slice(0, 40));
}
return [...new Set(found)];
"""


def library():
    """Where axe-core is, as some package has brought it; None where there is none."""
    places = glob.glob(os.path.join(sysconfig.get_paths()["purelib"], "axe*", "**", "axe.min.js"), recursive=True)
    return max(places, key=version, default=None)


def version(path):
    with open(path, encoding="utf-8") as file:
        match = re.search(r"axe v(\d+)\.(\d+)\.(\d+)", file.read(200))
    return tuple(int(part) for part in match.groups()) if match else (0,)


def name():
    path = library()
    return "axe-core " + ".".join(str(part) for part in version(path)) if path else "our own script"


def violations(browser):
    """What is wrong with the page as it is shown now, in words."""
    found = browser.script(OWN)
    path = library()
    if path:
        with open(path, encoding="utf-8") as file:
            browser.script(file.read())
        found += browser.driver.execute_async_script(RUN)
    return found
