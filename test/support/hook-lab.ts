import { type ChildProcess, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { HookedAgent } from '../../src/agents/hook-codecs.ts'
import { answerHook } from '../../src/guard/hook/answer-hook.ts'
import { hookLauncher, writeLauncher } from '../../src/guard-install/hook-launcher.ts'
import { quickId } from '../../src/io/quick-random.ts'
import { hookProgram } from './program.ts'

export interface HookResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface HookLab {
  readonly top: string
  readonly root: string
  readonly guardHome: string
  readonly hookBin: string
  readonly env: Record<string, string>
  /** Starts the hook program itself; stdin is left open when `input` is null. */
  start(args: readonly string[], input: string | Uint8Array | null, env?: Record<string, string>): HookRun
  /** What the hook program does after it has read its input, in this process: no Node starts, and no time limit ends it. */
  answer(
    agent: HookedAgent,
    event: string,
    payload: string,
    env?: Record<string, string>,
  ): Promise<HookResult>
  /** Starts the launcher of an agent, as the agent does. */
  launch(
    agent: HookedAgent,
    args: readonly string[],
    input: string | Uint8Array | null,
    env?: Record<string, string>,
  ): HookRun
  /** The arguments of each Node that a launcher started. */
  nodeStarts(): readonly string[]
  /** A payload of Claude Code for this project. */
  payload(event: string, more?: object): string
  remove(): void
}

export interface HookRun {
  readonly child: ChildProcess
  readonly result: Promise<HookResult>
}

/** A project, a guard home and the published hook program. `kept` tests end what they started. */
export async function openHookLab(): Promise<HookLab> {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-hook-')))
  const [root, guardHome, home] = ['project', 'guard', 'home'].map((name) => join(top, name))
  if (root === undefined || guardHome === undefined || home === undefined) throw new Error('no places')
  for (const directory of [root, home]) mkdirSync(directory)
  const hookBin = join(top, 'hook', 'hook-bin.js')
  mkdirSync(join(top, 'hook'))
  copyFileSync(hookProgram, hookBin)
  const [spy, starts] = [join(top, 'node'), join(top, 'starts')]
  writeFileSync(spy, `#!/bin/sh\necho "$@" >> ${starts}\nexec ${process.execPath} "$@"\n`, { mode: 0o755 })
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home,
    GANTRY_GUARD_HOME: guardHome,
    GANTRY_GUARD_RESIDENT: 'off',
    CLAUDE_PROJECT_DIR: root,
  }
  const payload = (event: string, more: object = {}): string =>
    JSON.stringify({
      session_id: 's1',
      transcript_path: join(home, 't.jsonl'),
      cwd: root,
      permission_mode: 'default',
      hook_event_name: event,
      ...more,
    })
  return {
    top,
    root,
    guardHome,
    hookBin,
    env,
    payload,
    start: (args, input, more = {}) =>
      startHook([process.execPath, hookBin, ...args], input, { ...env, ...more }),
    answer: async (agent, event, text, more = {}) => {
      const { reply } = await answerHook(
        {
          agent,
          event,
          agentVersion: null,
          env: { ...env, ...more },
          payload: Buffer.from(text),
          eventId: `e_${quickId(16)}`,
        },
        { node: process.execPath, hookBin, edition: 'test' },
      )
      return { code: reply.exitCode, stdout: reply.stdout, stderr: reply.stderr }
    },
    launch: (agent, args, input, more = {}) => {
      const places = { GANTRY_GUARD_HOME: join(top, 'launchers') }
      const launcher = hookLauncher(agent, { node: spy, hookBin }, places)
      if (launcher === null) throw new Error('no launcher on this system')
      writeLauncher(launcher)
      return startHook([launcher.path, ...args], input, { ...env, ...more })
    },
    nodeStarts: () => (existsSync(starts) ? readFileSync(starts, 'utf8').split('\n').filter(Boolean) : []),
    remove: () => rmSync(top, { recursive: true, force: true }),
  }
}

function startHook(
  [program = '', ...args]: readonly string[],
  input: string | Uint8Array | null,
  env: Record<string, string>,
): HookRun {
  const child = spawn(program, args, { env, stdio: 'pipe' })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  // A program that fails early does not read all of its input.
  child.stdin.on('error', () => {})
  if (input !== null) child.stdin.end(input)
  const result = new Promise<HookResult>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) =>
      resolve({
        code,
        stdout: Buffer.concat(out).toString('utf8'),
        stderr: Buffer.concat(err).toString('utf8'),
      }),
    )
  })
  return { child, result }
}
