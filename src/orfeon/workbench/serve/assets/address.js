"use strict";
// The command names the address that the page came from.
const command = document.getElementById("command");
const address = new URL("predict", document.baseURI).href;
command.textContent = command.textContent.replace(/http:\/\/127\.0\.0\.1:8000\/predict$/, address);
