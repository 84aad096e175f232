import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { buildHook } from '../scripts/build-hook.ts'
import { version } from '../src/core/version.ts'
import { askResident } from '../src/guard/hook/resident/ask-resident.ts'
import { socketPath } from '../src/guard/hook/resident/socket-path.ts'
import { lockHolder } from '../src/io/lock.ts'
import { guardKey } from '../src/rules/ledger/seal-line.ts'
import { compare, type Figure, inTemporary, timed } from './figure.ts'

/** What an agent waits for before each call of a tool, with no helper around. */
export function hookBeforeTool(): Promise<Figure> {
  return oneShot('one-shot hook before a tool', 'PreToolUse', (lab, round) =>
    lab.payload('PreToolUse', {
      tool_name: 'Bash',
      tool_input: { command: `ls -la src | head -${round}`, description: 'look' },
      tool_use_id: `t${round}`,
    }),
  )
}

export function hookAfterTool(): Promise<Figure> {
  return oneShot('one-shot hook after a tool', 'PostToolUse', (lab, round) =>
    lab.payload('PostToolUse', {
      tool_name: 'Edit',
      tool_input: { file_path: join(lab.root, `${round}.ts`), old_string: 'a', new_string: `b${round}` },
      tool_response: { filePath: join(lab.root, `${round}.ts`) },
      tool_use_id: `t${round}`,
    }),
  )
}

/** The round trip to the helper as the hook sees it, against its limit in milliseconds, and what the whole process takes. */
export function residentHook(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const lab = await openLab(directory, {})
    lab.hook('SessionStart', lab.payload('SessionStart', { source: 'startup' }))
    const path = lab.socket()
    for (let tries = 0; !existsSync(path) && tries < 200; tries += 1) await wait(25)
    const key = guardKey(lab.env.GANTRY_GUARD_HOME)
    const tripsMs: number[] = []
    for (let round = 0; round < 200; round += 1) {
      const payload = Buffer.from(
        lab.payload('PreToolUse', {
          tool_name: 'Bash',
          tool_input: { command: `ls ${round}` },
          tool_use_id: `t${round}`,
        }),
      )
      const request = { agent: 'claude-code', event: 'PreToolUse', agentVersion: null, env: lab.env, payload }
      let reply: unknown = null
      const ms = await timed(async () => {
        reply = await askResident(path, { ...request, eventId: `e_${round}` }, key)
      })
      if (reply === null) throw new Error('the helper did not answer')
      tripsMs.push(ms)
    }
    const whole = await compare({
      name: 'hook with a helper',
      atMost: Number.POSITIVE_INFINITY,
      baseline: 'node -e 0',
      rounds: 25,
      ours: (round) =>
        lab.hook(
          'PreToolUse',
          lab.payload('PreToolUse', {
            tool_name: 'Bash',
            tool_input: { command: `ls -${round}` },
            tool_use_id: `w${round}`,
          }),
        ),
      theirs: () => bareNode(lab.env),
    })
    const helper = lockHolder(`${path}.lock`)
    if (helper !== null) process.kill(helper.pid)
    const tripMs = tripsMs.toSorted((a, b) => a - b)[Math.floor(tripsMs.length / 2)] ?? Number.NaN
    return {
      name: 'hook with a resident helper, round trip',
      limit: 'at most 12 ms',
      ratio: tripMs / 12,
      ok: tripMs <= 12,
      detail: { tripMs, wholeProcessRatio: whole.ratio, ...whole.detail },
    }
  })
}

function oneShot(
  name: string,
  event: string,
  payloadOf: (lab: Lab, round: number) => string,
): Promise<Figure> {
  return inTemporary(async (directory) => {
    const lab = await openLab(directory, { GANTRY_GUARD_RESIDENT: 'off' })
    lab.hook('SessionStart', lab.payload('SessionStart', { source: 'startup' }))
    // What V8 keeps of the first starts is part of the state every later one finds.
    for (let round = 1000; round < 1005; round += 1) lab.hook(event, payloadOf(lab, round))
    return compare({
      name,
      atMost: 1.5,
      baseline: 'node -e 0',
      rounds: 41,
      ours: (round) => lab.hook(event, payloadOf(lab, round)),
      theirs: () => bareNode(lab.env),
    })
  })
}

interface Lab {
  readonly root: string
  readonly env: Record<string, string> & { readonly GANTRY_GUARD_HOME: string }
  hook(event: string, payload: string): void
  payload(event: string, more: object): string
  socket(): string
}

async function openLab(directory: string, more: Record<string, string>): Promise<Lab> {
  const root = join(directory, 'project')
  const hookBin = join(directory, 'hook', 'hook-bin.js')
  mkdirSync(root)
  await buildHook(hookBin)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: directory,
    GANTRY_GUARD_HOME: join(directory, 'guard'),
    CLAUDE_PROJECT_DIR: root,
    ...more,
  }
  return {
    root,
    env,
    hook: (event, input) => {
      const args = [hookBin, '--agent', 'claude-code', event]
      const { status, stderr } = spawnSync(process.execPath, args, { env, input })
      if (status !== 0) throw new Error(`the hook ended with ${status}: ${stderr}`)
    },
    payload: (event, fields) =>
      JSON.stringify({
        session_id: 's1',
        transcript_path: join(directory, 't.jsonl'),
        cwd: root,
        permission_mode: 'default',
        hook_event_name: event,
        ...fields,
      }),
    socket: () => {
      const { size, mtimeMs } = statSync(hookBin)
      const uid = process.getuid?.() ?? null
      const edition = `${version}-${size}-${mtimeMs}`
      const path = socketPath({ guardHome: env.GANTRY_GUARD_HOME, edition, env, uid })
      if (path === null) throw new Error('there is no place for a socket')
      return path
    },
  }
}

function bareNode(env: Record<string, string>): void {
  spawnSync(process.execPath, ['-e', '0'], { env, input: '' })
}
