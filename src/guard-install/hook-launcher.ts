import { basename, dirname, isAbsolute, join } from 'node:path'
import { type HookedAgent, hookCodecs } from '../agents/hook-codecs.ts'
import { shellWords, wordsOfShell } from '../agents/hook-config/shell-words.ts'
import type { HookCommand } from '../agents/hook-installer.ts'
import { GantryError } from '../core/error.ts'
import { guardHome } from '../guard-engine/ledger/ledger-place.ts'
import { shellPrefixName, shellPrefixText } from '../guard-engine/protection/shell-prefix.ts'
import { namesIn, readTextIfExists } from '../io/directory.ts'
import { isExecutable, ownProgram } from '../io/find-program.ts'
import { platform } from '../io/host.ts'
import { isFile } from '../io/path-kind.ts'
import { hasProgram, writePrivateProgram } from '../io/private-files.ts'
import { sha256 } from '../io/sha256.ts'
import { askHelper, perl } from './ask-helper.ts'
import type { HookProgram } from './hook-program.ts'

/**
 * The program that the hooks of one agent start. It needs no arguments, because Copilot drops those of Claude Code's hooks. It blocks when the
 * hook program is missing; Node alone would exit with 1, and Gemini CLI lets a tool call pass then.
 */
export interface HookLauncher {
  readonly path: string
  readonly text: string
}

/**
 * The path contains a hash of the text, so installs of different versions do not overwrite each other. An uninstall keeps it for a while
 * (`tidyPrograms`), because a running session keeps its hooks. null on Windows, which does not run scripts by their first line.
 */
export function hookLauncher(
  agent: HookedAgent,
  { node, hookBin }: HookProgram,
  env: Readonly<Record<string, string | undefined>>,
): HookLauncher | null {
  if (platform === 'win32') return null
  const ask = isExecutable(perl) ? askHelper({ node, hookBin, agent, blocking: blockingEvents(agent) }) : null
  const text = launcherText({ node, hookBin: JSON.stringify(hookBin), agent, ask })
  const directory = `${agent}-${sha256(text).slice(0, hashLength)}`
  return { path: join(guardHome(env), 'bin', directory, launcherName), text }
}

/** The program through which an agent runs commands with protected files read-only. */
export function shellPrefix(env: Readonly<Record<string, string | undefined>>): HookLauncher {
  const home = guardHome(env)
  const text = shellPrefixText({ guardHome: home, gantry: ownProgram() })
  return { path: join(home, 'bin', `shell-${sha256(text).slice(0, hashLength)}`, shellPrefixName), text }
}

export const launcherName = 'gantry-hook.cjs'
const hashLength = 12

export function writeLauncher({ path, text }: HookLauncher): void {
  if (hasProgram(path, text) || writePrivateProgram(path, text)) return
  throw new GantryError('NOT_WRITABLE', `${path} cannot be executed`, {
    hint: 'Its file system does not allow executables. Set GANTRY_GUARD_HOME to a directory on another file system.',
  })
}

/** Launchers that may be in use, of any version. Their content never changes. */
export function writtenLaunchers(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return allLaunchers(env).filter((path) => !isFile(unusedMark(path)))
}

export function allLaunchers(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const directory = join(guardHome(env), 'bin')
  return namesIn(directory)
    .map((name) => join(directory, name, launcherName))
    .filter(isFile)
}

/** A marker beside a launcher without a receipt. Its time shows since when. */
export function unusedMark(launcher: string): string {
  return join(dirname(launcher), 'unused')
}

/** Problems of a launcher that hooks start; empty for another program. */
export function launcherProblems(path: string, isMissing: (program: string) => boolean): readonly string[] {
  if (basename(path) !== launcherName) return []
  const text = readTextIfExists(path)
  if (text === null) return []
  if (!isUnchanged(path, text)) return [`${path}, which the hook starts, was changed`]
  return launchedPrograms(text)
    .filter(isMissing)
    .map((program) => `${program}, which the hook starts, does not exist`)
}

function isUnchanged(path: string, text: string): boolean {
  return dirname(path).endsWith(`-${sha256(text).slice(0, hashLength)}`)
}

/** Puts launchers back that were replaced since the last look, and returns their paths. For a process that stays: it keeps their texts. */
export function launcherKeeper(env: Readonly<Record<string, string | undefined>>): () => readonly string[] {
  const texts = new Map<string, string>()
  return () =>
    allLaunchers(env).filter((path) => {
      const known = texts.get(path)
      if (known !== undefined) return !hasProgram(path, known) && writePrivateProgram(path, known)
      const text = readTextIfExists(path) ?? ''
      if (isUnchanged(path, text)) texts.set(path, text)
      return false
    })
}

/** The command of a hook of this agent. The installer adds the event. `root` is the project whose hooks these are; null for a user's. */
export function hookCommand(
  agent: HookedAgent,
  program: HookProgram,
  { env, root }: { readonly env: Readonly<Record<string, string | undefined>>; readonly root: string | null },
): HookCommand {
  const launcher = hookLauncher(agent, program, env)
  const { node, hookBin } = program
  const start =
    launcher === null
      ? { program: node, args: [hookBin, '--agent', agent] }
      : { program: launcher.path, args: [] }
  // Two places that no clone has: both must be gone for the hook to do nothing, and both are protected.
  return root === null || platform === 'win32'
    ? start
    : { ...start, onlyIf: [guardHome(env), join(root, '.harness')] }
}

interface Launched {
  /** Absolute, or `/usr/bin/env node` for the Node on the PATH. */
  readonly node: string
  /** The hook program, as a JavaScript expression. */
  readonly hookBin: string
  readonly agent: HookedAgent
  /** First lines that ask a helper, and start Node only without its answer; null when Node is always started. */
  readonly ask: string | null
}

/**
 * Runs the hook program in the same process, as if it had been started directly. If it is missing, the exit code blocks what must not pass
 * unjudged: without an event, as Copilot starts it, everything.
 */
export function launcherText({ node, hookBin, agent, ask }: Launched): string {
  return `${ask ?? firstLines(node)}
// Written by Gantry: the hook of ${agent}. An agent that gives it no event tells the event in what it sends.
const hookBin = ${hookBin}
const event = process.argv[2]?.startsWith('--') ? undefined : process.argv[2]
process.argv.splice(1, 1, hookBin, '--agent', '${agent}')
const fail = (error) => {
  const [why] = String(error?.message ?? error).split('\\n', 1)
  process.stderr.write(\`the guard itself failed: \${why}\\nInstall Gantry again, or take its hooks out.\\n\`)
  process.exit(event === undefined || [${blockingEvents(agent)
    .map((name) => `'${name}'`)
    .join(', ')}].includes(event) ? 2 : 1)
}
process.once('uncaughtException', fail)
// A bundle is compiled to where its packed code begins: Node would read and scan all of it.
const startOf = (file) => {
  const fs = require('node:fs')
  if (!fs.existsSync(file)) return ''
  const [fd, start] = [fs.openSync(file), Buffer.alloc(16384)]
  // Node would run it and end with 0, as if it had allowed the call.
  if (fs.readSync(fd, start) === 0) throw new Error(\`\${file} is empty\`)
  fs.closeSync(fd)
  return start.latin1Slice(0, Math.max(0, start.indexOf('\\n/*packed\\n')))
}
try {
  const code = hookBin.endsWith('.js') ? startOf(hookBin) : ''
  if (code !== '') module._compile(code, hookBin)
  else if (hookBin.endsWith('.js')) require(hookBin)
  else import(require('node:url').pathToFileURL(hookBin).href).catch(fail)
} catch (error) {
  fail(error)
}
`
}

/** Not the stop events: an agent that may not stop because a program is missing would never stop. */
function blockingEvents(agent: HookedAgent): readonly string[] {
  return hookCodecs[agent].events
    .filter(({ kind }) => kind === 'tool_before' || kind === 'config_change')
    .map(({ event }) => event)
}

/** Absolute paths that a launcher starts: its Node, and the hook program if its path is literal. */
export function launchedPrograms(text: string): readonly string[] {
  const [first = '', second = ''] = text.split('\n', 2)
  const node =
    first === `#!${perl}`
      ? JSON.parse(/^# Node: (".*")$/m.exec(text)?.[1] ?? 'null')
      : first === throughShell
        ? wordsOfShell(second)[3]
        : first.slice('#!'.length)
  const hookBin: unknown = JSON.parse(/^const hookBin = (".*")$/m.exec(text)?.[1] ?? 'null')
  return [node, hookBin].filter((path): path is string => typeof path === 'string' && isAbsolute(path))
}

/** The kernel reads only a short first line and no quotes. Longer or quoted paths go through a shell that is replaced. */
function firstLines(node: string): string {
  const line = `#!${node}`
  const isPlain = node === anyNode || !/\s/.test(node)
  if (isPlain && Buffer.byteLength(line) <= maxLineBytes) return line
  return `${throughShell}\n':' //; exec ${shellWords([node])} "$0" "$@"`
}

const throughShell = '#!/bin/sh'

export const anyNode = '/usr/bin/env node'
const maxLineBytes = 126
