import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { HookEvent } from '../src/core/hook-event.ts'
import { ledgerFiles, readLedger } from '../src/guard-engine/ledger/read-ledger.ts'
import { openGuard } from '../src/guard-engine/open-guard.ts'
import { rules } from '../src/rules/index.ts'
import { compare, type Figure, inTemporary } from './figure.ts'
import { bareNode, type GuardLab, openLab } from './guard-lab.ts'

/** The time an agent waits before each tool call, without a resident helper. */
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

/** The time of all rules together for a long command, from the ledger, with warm code. */
export function engineTime(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const guardHome = join(directory, 'guard')
    const guard = openGuard({ rules, guardHome, env: { HOME: directory, PATH: process.env.PATH } })
    for (let round = 0; round < warmUp + measured; round += 1)
      await guard.handle(longCommand(directory, round))
    const decisions = ledgerFiles(guardHome, realpathSync(directory))
      .flatMap((file) => readLedger(guardHome, file).entries)
      .filter((entry) => entry.kind === 'decision')
    if (decisions.some(({ verdict }) => verdict !== 'pass')) throw new Error('the command was denied')
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

/** Steps as agents chain them, each with variables, pipes and a redirection into a new file. */
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

function oneShot(
  name: string,
  event: string,
  payloadOf: (lab: GuardLab, round: number) => string,
): Promise<Figure> {
  return inTemporary(async (directory) => {
    const lab = openLab(directory, { GANTRY_GUARD_RESIDENT: 'off' })
    lab.hook('SessionStart', lab.payload('SessionStart', { source: 'startup' }))
    // Later starts use what V8 cached in the first ones, so warm up first.
    for (let round = 1000; round < 1005; round += 1) lab.hook(event, payloadOf(lab, round))
    return compare({
      name,
      atMost: 1.4,
      baseline: 'node -e 0',
      rounds: 41,
      ours: (round) => lab.hook(event, payloadOf(lab, round)),
      theirs: () => bareNode(lab.env),
    })
  })
}
