import { basename, dirname, isAbsolute, join } from 'node:path'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import { shellWords, wordsOfShell } from '../agents/hook-config/shell-words.ts'
import type { HookCommand } from '../agents/hook-installer.ts'
import { hookTraitsOf } from '../agents/hook-installers.ts'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { platform } from '../io/host.ts'
import { isFile } from '../io/path-kind.ts'
import { hasProgram, writePrivateProgram } from '../io/private-store.ts'
import { sha256 } from '../io/sha256.ts'
import type { HookProgram } from './hook-program.ts'

/** A program of its own for the hooks of one agent, so that they need no arguments. */
export interface HookLauncher {
  readonly path: string
  readonly text: string
}

/**
 * The path has the hash of the text in it, so that installs by different versions never change each other's. An
 * uninstall leaves it for a while (`tidyPrograms`): a session that runs keeps the hooks it began with. null for agents whose hooks are told all they need.
 */
export function hookLauncher(
  agent: HookedAgent,
  { node, hookBin }: HookProgram,
  env: Readonly<Record<string, string | undefined>>,
): HookLauncher | null {
  // Windows starts no scripts by their first line.
  if (hookTraitsOf(agent).needsLauncher !== true || platform === 'win32') return null
  const text = launcherText({ node, hookBin: JSON.stringify(hookBin), agent })
  const directory = `${agent}-${sha256(text).slice(0, hashLength)}`
  return { path: join(guardHome(env), 'bin', directory, launcherName), text }
}

export const launcherName = 'gantry-hook.cjs'
const hashLength = 12

export function isLauncherThere({ path, text }: HookLauncher): boolean {
  return hasProgram(path, text)
}

export function writeLauncher({ path, text }: HookLauncher): void {
  if (hasProgram(path, text) || writePrivateProgram(path, text)) return
  throw new GantryError('NOT_WRITABLE', `${path} cannot be started where it is`, {
    hint: 'Its file system lets no program run. Set GANTRY_GUARD_HOME to a directory on another one.',
  })
}

/** Those somebody may need, of whatever version: each stays as it is for good. */
export function writtenLaunchers(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return allLaunchers(env).filter((path) => !isFile(unusedMark(path)))
}

export function allLaunchers(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const directory = join(guardHome(env), 'bin')
  return namesIn(directory)
    .map((name) => join(directory, name, launcherName))
    .filter(isFile)
}

/** Beside a launcher that no hook with a receipt starts: its time tells since when. */
export function unusedMark(launcher: string): string {
  return join(dirname(launcher), 'unused')
}

/** What is wrong with a launcher that stands in somebody's hooks; none for another program. */
export function launcherProblems(path: string, isMissing: (program: string) => boolean): readonly string[] {
  if (basename(path) !== launcherName) return []
  const text = readTextIfExists(path)
  if (text === null) return []
  if (!dirname(path).endsWith(`-${sha256(text).slice(0, hashLength)}`))
    return [`${path}, which the hook starts, is not as it was written`]
  return launchedPrograms(text)
    .filter(isMissing)
    .map((program) => `${program}, which the hook starts, is not there`)
}

/** What a hook of this agent starts; the installer adds the event. */
export function hookCommand(
  agent: HookedAgent,
  program: HookProgram,
  env: Readonly<Record<string, string | undefined>>,
): HookCommand {
  const launcher = hookLauncher(agent, program, env)
  const { node, hookBin } = program
  return launcher === null
    ? { program: node, args: [hookBin, '--agent', agent], agentVersion: null }
    : { program: launcher.path, args: [], agentVersion: null }
}

interface Launched {
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
