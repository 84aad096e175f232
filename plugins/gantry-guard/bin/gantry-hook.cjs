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
// A bundle is compiled to where its packed code begins: Node would read and scan all of it.
const startOf = (file) => {
  const fs = require('node:fs')
  if (!fs.existsSync(file)) return ''
  const [fd, start] = [fs.openSync(file), Buffer.alloc(16384)]
  // Node would run it and end with 0, as if it had allowed the call.
  if (fs.readSync(fd, start) === 0) throw new Error(`${file} is empty`)
  fs.closeSync(fd)
  return start.latin1Slice(0, Math.max(0, start.indexOf('\n/*packed\n')))
}
try {
  const code = hookBin.endsWith('.js') ? startOf(hookBin) : ''
  if (code !== '') module._compile(code, hookBin)
  else if (hookBin.endsWith('.js')) require(hookBin)
  else import(require('node:url').pathToFileURL(hookBin).href).catch(fail)
} catch (error) {
  fail(error)
}
