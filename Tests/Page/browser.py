"""A headless Chromium, and what tests ask of it."""

import json
import os
import shutil
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import stores

OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1000,800",
           "--disable-background-networking", "--no-first-run", "--no-default-browser-check"]


class Browser:
    """One window. Scripts see the page as it is; `wait` asks until something holds."""

    def __init__(self, *more):
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "/usr/bin/chromium"
        for option in [*OPTIONS, *more]:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(
            options=options, service=Service(shutil.which("chromedriver") or "/usr/bin/chromedriver"))
        self.size()

    def quit(self):
        self.driver.quit()

    def open(self, address):
        self.driver.get(address)
        self.wait("document.getElementById('state').dataset.state !== ''")
        self.wait("!document.getElementById('waiting').hidden || !document.getElementById('rest').hidden")

    def open_records(self, address):
        self.open(address)
        self.wait("document.querySelectorAll('#browser-rows tbody tr').length > 0 && document.getElementById('busy').hidden")

    def size(self, width=1000, height=800):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def media(self, **features):
        """For example `prefers_color_scheme="dark"`; nothing sets all back."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def value(self, expression, *arguments):
        return self.script("return " + expression, *arguments)

    def wait(self, expression, *arguments, patience=stores.PATIENCE):
        """Until an expression of JavaScript is true; what it is then."""
        deadline = time.monotonic() + patience
        # What is not there yet is nothing yet.
        text = "try { return " + expression + "; } catch { return null; }"
        while True:
            value = self.script(text, *arguments)
            if value:
                return value
            if time.monotonic() > deadline:
                raise AssertionError("it never came to this: " + expression)
            time.sleep(0.03)

    def text(self, selector):
        return self.value("document.querySelector(arguments[0]).textContent", selector)

    def texts(self, selector):
        return self.value("[...document.querySelectorAll(arguments[0])].map(each => each.textContent)", selector)

    def click(self, selector):
        element = self.driver.find_element(By.CSS_SELECTOR, selector)
        self.script("arguments[0].scrollIntoView({ block: 'center' })", element)
        element.click()

    def click_text(self, selector, text):
        """Clicks the first element with this text."""
        self.wait("[...document.querySelectorAll(arguments[0])].some(each => each.textContent === arguments[1])", selector, text)
        self.script("[...document.querySelectorAll(arguments[0])].find(each => each.textContent === arguments[1])"
                    ".dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))", selector, text)

    def keys(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def predicate(self, text):
        field = self.driver.find_element(By.ID, "predicate")
        field.clear()
        field.send_keys(text, Keys.ENTER)

    def column(self, name):
        """The texts of a column, of the rows that are there."""
        return self.value(
            "(heads => { const index = heads.findIndex(head => head.dataset.attribute === arguments[0]);"
            "return [...document.querySelectorAll('#browser-rows tbody tr[data-key]')]"
            ".map(row => row.children[index].textContent) })"
            "([...document.querySelectorAll('#browser-rows thead th')])", name)

    def console(self):
        """What the console has said since it was last asked, but for notes."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("WARNING", "SEVERE")]

    def requests(self):
        """The addresses asked for since that was last asked."""
        addresses = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                addresses.append(message["params"]["request"]["url"])
        return addresses

    def picture(self, path):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.driver.save_screenshot(path)
