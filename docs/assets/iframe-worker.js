// From the disk, browsers start no workers, and the site's search is one. There it is run in a frame of the page instead.
// The plugin `offline` would fetch such a text from elsewhere, unless there is one with this file's name (mkdocs.yml).
"use strict";

if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.there = new Promise(there => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow, script = frame.contentDocument.createElement("script");
          inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
          script.src = address;
          script.addEventListener("load", () => there(inside));
          frame.contentDocument.body.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    async postMessage(data) {
      (await this.there).dispatchEvent(new MessageEvent("message", { data }));
    }
  };
}
