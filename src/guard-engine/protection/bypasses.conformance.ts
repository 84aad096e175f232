import { execFile, execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import type { HookEvent, HookEventDetail, ToolCall } from '../../core/hook-event.ts'
import { findProgram } from '../../io/find-program.ts'
import { writePrivateProgram } from '../../io/private-files.ts'
import { noticeChanges } from '../../rules/notice-changes.ts'
import { openGuard } from '../open-guard.ts'
import { protectedPaths } from '../protected-path.ts'
import { defaultPatterns } from '../protection-corpus.conformance.ts'
import { shellPrefixName, shellPrefixText } from './shell-prefix.ts'

/** A command that changes, creates or removes a protected file when nothing guards it. */
export interface Bypass {
  readonly class: string
  readonly name: string
  readonly command: string
  /** Programs without which it cannot be tried. */
  readonly needs?: readonly string[]
}

export function readBypasses(): readonly Bypass[] {
  const file = join(import.meta.dirname, '../../../test/corpus/guard/kernel-bypasses.jsonl')
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.filter((line) => line !== '').map((line): Bypass => JSON.parse(line))
}

/** How one command ended without the guard, with the notice layer alone, and with the kernel layer. No call is judged before it runs. */
export interface BypassResult {
  readonly name: string
  readonly lacks: string | null
  /** Protected files that differed afterwards. */
  readonly unguarded: readonly string[]
  /** Those that differed and were not named. */
  readonly unreported: readonly string[]
  /** Those that still differed after the call. */
  readonly notHeld: readonly string[]
  /** Those that the command itself changed or removed with the kernel layer, before anything was put back. */
  readonly notPrevented: readonly string[]
}

export function openBypassLab() {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-bypass-')))
  const template = join(base, 'template')
  makeProject(template)
  let count = 0
  return {
    base,
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
    async play(bypass: Bypass): Promise<BypassResult> {
      const name = `${bypass.class}: ${bypass.name}`
      const lacks =
        (bypass.needs ?? []).find((each) => findProgram(each, process.env.PATH ?? '') === null) ?? null
      if (lacks !== null) return { name, lacks, unguarded: [], unreported: [], notHeld: [], notPrevented: [] }
      const runs: Played[] = []
      for (const layer of ['none', 'notice', 'kernel'] as const) {
        count += 1
        const directory = join(base, String(count))
        runs.push(await playOnce(directory, template, bypass.command, layer))
        rmSync(directory, { recursive: true, force: true })
      }
      const [none, notice, kernel] = runs
      return {
        name,
        lacks,
        unguarded: none?.differing ?? [],
        unreported: (notice?.differing ?? []).filter((path) => notice?.text.includes(`${path}: `) !== true),
        notHeld: kernel?.differing ?? [],
        notPrevented: kernel?.changed ?? [],
      }
    },
  }
}

interface Played {
  readonly differing: readonly string[]
  /** Files that were there and differed before the hook after the call. */
  readonly changed: readonly string[]
  /** The text for the model after the call. */
  readonly text: string
}

async function playOnce(
  directory: string,
  template: string,
  command: string,
  layer: 'none' | 'notice' | 'kernel',
): Promise<Played> {
  const root = join(directory, 'app')
  const [home, tmp, guardHome] = [join(directory, 'home'), join(directory, 'tmp'), join(directory, 'guard')]
  for (const path of [home, tmp]) mkdirSync(path, { recursive: true })
  cpSync(template, root, { recursive: true, verbatimSymlinks: true })
  writeFileSync(join(home, '.gitconfig'), '[user]\nname = a\nemail = a@b.c\n[init]\ndefaultBranch = main\n')
  const before = protectedState(root, home)
  const prefix = join(guardHome, 'bin', shellPrefixName)
  const session = 'bypass-1'
  const env = {
    PATH: [join(import.meta.dirname, '../../../node_modules/.bin'), process.env.PATH ?? ''].join(delimiter),
    HOME: home,
    TMPDIR: tmp,
    TMUX_TMPDIR: tmp,
    LANG: 'C.UTF-8',
    TERM: 'xterm',
    ...(layer === 'kernel' && {
      CLAUDE_CODE_SHELL_PREFIX: prefix,
      CLAUDE_CODE_SESSION_ID: session,
      HARNESS_ENFORCEMENT: 'kernel',
    }),
  }
  if (layer === 'kernel') writePrivateProgram(prefix, shellPrefixText({ guardHome, gantry: null }))
  const guard = openGuard({ guardHome, env, rules: [noticeChanges] })
  const send = (happening: HookEventDetail) =>
    guard.handle({
      agent: 'claude-code',
      session,
      agentId: null,
      agentType: null,
      promptId: null,
      cwd: root,
      root,
      ...happening,
    } as HookEvent)
  const action = { kind: 'shell', command, background: false, language: 'bash' } as const
  const call: ToolCall = { id: 't1', tool: 'Bash', action, input: { command } }
  if (layer !== 'none') {
    await send({ kind: 'session_start', source: 'startup' })
    await send({ kind: 'tool_before', call })
  }
  // As Claude Code hands it over.
  const around = `shopt -u extglob 2>/dev/null || true && eval '${command.replaceAll("'", `'"'"'`)}' < /dev/null && pwd -P >| ${tmp}/cwd`
  const argv = layer === 'kernel' ? [prefix, around] : ['/bin/bash', '-c', command]
  await run(argv, root, env)
  endWhatIsLeft(tmp)
  const left = protectedState(root, home)
  // A directory above a file can be moved away. The file is put back afterwards.
  const isMoved = (path: string): boolean => !existsSync(dirname(path))
  const changed = [...before.keys()].filter((path) => left.get(path) !== before.get(path) && !isMoved(path))
  const outcome = {
    kind: 'success',
    exitCode: 0,
    output: '',
    interrupted: false,
    timedOut: false,
    background: false,
  } as const
  const text = layer === 'none' ? '' : ((await send({ kind: 'tool_after', call, outcome })).context ?? '')
  const after = protectedState(root, home)
  const paths = new Set([...before.keys(), ...after.keys()])
  return { text, changed, differing: [...paths].filter((path) => before.get(path) !== after.get(path)) }
}

/** Waits for the command, and two more seconds for what it left running in the background. */
function run([program = '', ...args]: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd, env, timeout: 30_000, killSignal: 'SIGKILL' }, () =>
      resolve(),
    )
    child.once('exit', () => setTimeout(resolve, 2_000).unref())
    child.stdin?.end()
  })
}

/**
 * Some programs go on in a session of their own, until they can write. They are known by the directory that only they were given. One of
 * them may start another while they are looked for.
 */
function endWhatIsLeft(tmp: string): void {
  for (let left = processesWith(tmp); left.length > 0; left = processesWith(tmp))
    for (const pid of left) killIfThere(pid)
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Processes whose directory for temporary files is in this one. */
export function processesWith(tmp: string): readonly number[] {
  return readdirSync('/proc')
    .filter(
      (name) => /^\d+$/.test(name) && environmentOf(name).some((each) => each.startsWith(`TMPDIR=${tmp}`)),
    )
    .map(Number)
}

function environmentOf(pid: string): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    // It has ended, or belongs to another user.
    return []
  }
}

/** Two commits, and protected files that git knows, ignores and does not know. */
function makeProject(root: string): void {
  const write = (path: string, text: string): void => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const git = (...args: readonly string[]): void => {
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
      cwd: root,
      stdio: 'ignore',
    })
  }
  write('README.md', 'read me\nplease\n')
  write('a.txt', 'one\n')
  write('src/index.js', '1\n')
  write('.gitignore', '.env\n')
  write('server.key', 'old key\n')
  git('init', '-q', '-b', 'main')
  git('add', '-A')
  git('commit', '-q', '-m', 'one')
  write('server.key', 'key of the server\n')
  write('certs/ca.pem', 'certificate\n')
  git('add', '-A')
  git('commit', '-q', '-m', 'two')
  write('.env', 'A=1\nB=2\n')
  write('config/credentials.json', '{ "user": "me" }\n')
}

/** Kind, mode and content of every protected file by path. */
function protectedState(root: string, home: string): ReadonlyMap<string, string> {
  const paths = protectedPaths(defaultPatterns, root, home)
  const found = new Map<string, string>()
  const walk = (directory: string): void => {
    for (const { name } of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, name)
      const stats = lstatSync(path)
      if (stats.isDirectory() && name !== '.git') walk(path)
      if (paths.patternOf(path) === null || (stats.isDirectory() && !known.has(path.slice(root.length + 1))))
        continue
      const what = stats.isSymbolicLink()
        ? `link ${readlinkSync(path)}`
        : stats.isFile()
          ? readFileSync(path, 'latin1')
          : 'other'
      found.set(path, `${stats.mode.toString(8)} ${what}`)
    }
  }
  walk(root)
  return found
}

const known = new Set(['.env', 'server.key', 'certs/ca.pem', 'config/credentials.json'])
