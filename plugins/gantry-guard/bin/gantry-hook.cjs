#!/usr/bin/env node
// Written by Gantry: the hook of claude-code. An agent that gives it no event tells the event in what it sends.
const hookBin = require('node:path').join(__dirname, '../dist/hook-bin.js')
const event = process.argv[2]?.startsWith('--') ? undefined : process.argv[2]
process.argv.splice(1, 1, hookBin, '--agent', 'claude-code')
const fail = (error) => {
  const [why] = String(error?.message ?? error).split('\n', 1)
  process.stderr.write(`the guard itself failed: ${why}\nInstall Gantry again, or take its hooks out.\n`)
  process.exit(event === undefined || ['PreToolUse', 'ConfigChange'].includes(event) ? 2 : 1)
}
process.once('uncaughtException', fail)
try {
  if (hookBin.endsWith('.js')) require(hookBin)
  else import(require('node:url').pathToFileURL(hookBin).href).catch(fail)
} catch (error) {
  fail(error)
}
