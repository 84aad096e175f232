import { existsSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { HookEvent } from '../src/core/hook-event.ts'
import { askResident } from '../src/guard/hook/resident/resident-frame.ts'
import { ledgerFiles, readLedger } from '../src/guard-engine/ledger/read-ledger.ts'
import { guardKey } from '../src/guard-engine/ledger/seal-line.ts'
import { openGuard } from '../src/guard-engine/open-guard.ts'
import { lockHolder } from '../src/io/lock.ts'
import { rules } from '../src/rules/index.ts'
import { compare, type Figure, inTemporary, timed } from './figure.ts'
import { bareNode, type GuardLab, openLab } from './guard-lab.ts'

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

export function hookAfterEdit(): Promise<Figure> {
  return oneShot('one-shot hook after an edit', 'PostToolUse', (lab, round) =>
    lab.payload('PostToolUse', {
      tool_name: 'Edit',
      tool_input: { file_path: join(lab.root, `${round}.ts`), old_string: 'a', new_string: `b${round}` },
      tool_response: { filePath: join(lab.root, `${round}.ts`) },
      tool_use_id: `t${round}`,
    }),
  )
}

export function hookAfterCommand(): Promise<Figure> {
  return oneShot('one-shot hook after a command', 'PostToolUse', (lab, round) =>
    lab.payload('PostToolUse', {
      tool_name: 'Bash',
      tool_input: { command: `ls -la src | head -${round}`, description: 'look' },
      tool_response: { stdout: 'total 4\n-rw-r--r-- 1 a b 12 index.ts', stderr: '', interrupted: false },
      tool_use_id: `t${round}`,
    }),
  )
}

/** What all rules together take for a long command, as the ledger has it, once the code is warm. */
export function engineTime(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const guardHome = join(directory, 'guard')
    const guard = openGuard({ rules, guardHome, env: { HOME: directory, PATH: process.env.PATH } })
    for (let round = 0; round < warmUp + measured; round += 1)
      await guard.handle(longCommand(directory, round))
    const decisions = ledgerFiles(guardHome, realpathSync(directory))
      .flatMap((file) => readLedger(guardHome, file).entries)
      .filter((entry) => entry.kind === 'decision')
    if (decisions.some(({ verdict }) => verdict !== 'pass'))
      throw new Error('the command was not let through')
    const timesMs = decisions
      .slice(-measured)
      .map(({ engineMs }) => engineMs)
      .toSorted((a, b) => a - b)
    const medianMs = timesMs[Math.floor(measured / 2)] ?? Number.NaN
    return {
      name: `engine over a command of ${longCommandBytes / 1024} KB`,
      limit: `at most ${engineAtMostMs} ms`,
      ratio: medianMs / engineAtMostMs,
      ok: medianMs <= engineAtMostMs,
      detail: { medianMs, slowestMs: timesMs.at(-1) ?? Number.NaN, rounds: measured },
    }
  })
}

const warmUp = 200
const measured = 200
const engineAtMostMs = 2
const longCommandBytes = 2048

/** Steps as agents chain them, each of them with something to follow: variables, pipes, a redirection into a new file. */
function longCommand(root: string, round: number): HookEvent {
  let command = `set -e; out=build-${round}; mkdir -p "$out"`
  for (let step = 0; command.length < longCommandBytes - 100; step += 1)
    command += ` && grep -rn 'todo ${step}' src/part-${step} | sort -u | head -${step} > "$out/list-${step}.txt"`
  command = command.padEnd(longCommandBytes)
  const action = { kind: 'shell', command, background: false, language: 'bash' } as const
  const call = { id: `t${round}`, tool: 'Bash', input: { command }, action }
  const whose = {
    agent: 'claude-code',
    session: 's1',
    agentId: null,
    agentType: null,
    promptId: null,
  } as const
  return { kind: 'tool_before', ...whose, cwd: root, root, call }
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
  payloadOf: (lab: GuardLab, round: number) => string,
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
