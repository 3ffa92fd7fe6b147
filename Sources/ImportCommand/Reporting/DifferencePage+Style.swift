/// What the page has besides the stores' contents: the same on every page.
extension DifferencePage {
    static let style = """

        :root {
          color-scheme: light dark;
          --paper: #fff; --ink: #1c1c1e; --faint: #6b6b70; --line: #d8d8dc;
          --inserted: #116329; --inserted-back: #dff5e3; --updated: #7a5900; --updated-back: #fff3c4;
          --deleted: #a40e26; --deleted-back: #ffe3e3; --conflict: #8c1d8c; --conflict-back: #fbe2fb;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #161618; --ink: #e6e6ea; --faint: #98989f; --line: #3a3a3e;
            --inserted: #6fdd8b; --inserted-back: #12331c; --updated: #f0cf5a; --updated-back: #3a300a;
            --deleted: #ff8f8f; --deleted-back: #431a1d; --conflict: #f19cf1; --conflict-back: #401a40;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; display: grid; grid-template-columns: 17rem minmax(0, 1fr); background: var(--paper);
          color: var(--ink); font: 14px/1.45 system-ui, sans-serif; }
        nav { position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); }
        main { padding: 1rem; }
        h1 { font-size: 1.1rem; overflow-wrap: anywhere; }
        h2, h3, h4 { font-size: 1rem; margin: 0; overflow-wrap: anywhere; }
        h3, h4 { font-weight: 500; }
        h4 { margin-top: .5rem; color: var(--faint); }
        a { color: inherit; }
        p { margin: 0 0 .3rem; color: var(--faint); }
        section { margin-bottom: 1.2rem; }
        ol { list-style: none; margin: 0; padding: 0; }
        table { border-collapse: collapse; margin: .2rem 0; max-width: 100%; }
        th { text-align: left; font-weight: 400; color: var(--faint); padding: 0 1rem 0 0; vertical-align: top;
          overflow-wrap: anywhere; }
        td { padding: 0 1rem 0 0; vertical-align: top; white-space: pre-wrap; overflow-wrap: anywhere; }
        nav td { text-align: right; }
        li { border-left: 4px solid var(--kind); padding: .3rem .7rem; margin-bottom: .6rem; scroll-margin-top: 1rem; }
        li:focus { outline: 2px solid var(--kind); }
        li ol { margin-left: .5rem; }
        .inserted { --kind: var(--inserted); }
        .updated { --kind: var(--updated); }
        .deleted { --kind: var(--deleted); }
        .conflict { --kind: var(--conflict); }
        li > h3 > b, nav tr.inserted > *, nav tr.updated > *, nav tr.deleted > *, nav tr.conflict > * { color: var(--kind); }
        nav tr.none > * { opacity: .5; }
        ins { text-decoration: none; background: var(--inserted-back); }
        del { text-decoration: none; background: var(--deleted-back); }
        .updated > table ins { background: var(--updated-back); }
        .conflict > table ins { background: var(--conflict-back); }
        kbd { border: 1px solid var(--line); border-radius: 3px; padding: 0 .3em; }
        @media (max-width: 50rem) { body { display: block; } nav { position: static; height: auto; border: 0; } }

        """

    static let script = """

        "use strict";
        (function () {
          const changes = Array.from(document.querySelectorAll("main li"));
          let at = -1;
          function go(to) {
            if (changes.length === 0) { return; }
            at = Math.max(0, Math.min(changes.length - 1, to));
            changes[at].focus({ preventScroll: true });
            changes[at].scrollIntoView({ block: "start" });
          }
          function follow() {
            const found = changes.findIndex(function (change) { return "#" + change.id === location.hash; });
            if (found >= 0) { go(found); }
          }
          document.addEventListener("keydown", function (event) {
            if (event.ctrlKey || event.metaKey || event.altKey) { return; }
            if (event.key === "j") { go(at + 1); }
            if (event.key === "k") { go(at - 1); }
          });
          document.addEventListener("focusin", function (event) {
            const change = event.target.closest("main li");
            if (change) { at = changes.indexOf(change); }
          });
          window.addEventListener("hashchange", follow);
          follow();
        })();

        """
}
