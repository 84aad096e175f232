import { isAbsolute } from 'node:path'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import { shellWords, wordsOfShell } from '../agents/hook-config/shell-words.ts'

export interface Launched {
  /** Absolute; or `/usr/bin/env node` for whichever is on the PATH. */
  readonly node: string
  /** The hook program, as an expression of JavaScript. */
  readonly hookBin: string
  readonly agent: HookedAgent
}

/**
 * Starts the hook program within the same process, as if it had been started itself. When it is not there the exit code blocks
 * what must not pass unjudged: without an event, as Copilot starts it, all of it.
 */
export function launcherText({ node, hookBin, agent }: Launched): string {
  return `${firstLines(node)}
// Written by Gantry: the hook of ${agent}. An agent that gives it no event tells the event in what it sends.
const hookBin = ${hookBin}
const [, , event] = process.argv
process.argv.splice(1, 1, hookBin, '--agent', '${agent}')
const fail = (error) => {
  const [why] = String(error?.message ?? error).split('\\n', 1)
  process.stderr.write(\`the guard itself failed: \${why}\\nInstall Gantry again, or take its hooks out.\\n\`)
  process.exit(event === undefined || ${blockingEvents(agent)}.includes(event) ? 2 : 1)
}
process.once('uncaughtException', fail)
try {
  if (hookBin.endsWith('.js')) require(hookBin)
  else import(require('node:url').pathToFileURL(hookBin).href).catch(fail)
} catch (error) {
  fail(error)
}
`
}

/** Whoever may not stop because a program is gone would never stop. */
function blockingEvents(agent: HookedAgent): string {
  const blocking = hookCodecs[agent].events.filter(
    ({ kind }) => kind === 'tool_before' || kind === 'config_change',
  )
  return `[${blocking.map(({ event }) => `'${event}'`).join(', ')}]`
}

/** Absolute paths of what a launcher starts: its Node, and the hook program where it is written out. */
export function launchedPrograms(text: string): readonly string[] {
  const [first = '', second = ''] = text.split('\n', 2)
  const node = first === throughShell ? wordsOfShell(second)[3] : first.slice('#!'.length)
  const hookBin: unknown = JSON.parse(/^const hookBin = (".*")$/m.exec(text)?.[1] ?? 'null')
  return [node, hookBin].filter((path): path is string => typeof path === 'string' && isAbsolute(path))
}

/** The kernel reads a short first line and knows no quotes; what does not fit there goes through a shell, which is replaced. */
function firstLines(node: string): string {
  const line = `#!${node}`
  const isPlain = node === anyNode || !/\s/.test(node)
  if (isPlain && Buffer.byteLength(line) <= maxLineBytes) return line
  return `${throughShell}\n':' //; exec ${shellWords([node])} "$0" "$@"`
}

const throughShell = '#!/bin/sh'

export const anyNode = '/usr/bin/env node'
const maxLineBytes = 126
