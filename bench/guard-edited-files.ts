import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HookEvent, HookEventDetail, ToolCall } from '../src/core/hook-event.ts'
import { openGuard } from '../src/guard-engine/open-guard.ts'
import { rules } from '../src/rules/index.ts'
import { compare, type Figure, inMemory, inTemporary } from './figure.ts'

const many = 1200
const few = 50
/** Calls per round: enough for every round to write some checkpoints. */
const callsPerRound = 12

/** The time per call in a session that has edited many files, against a session that has edited few. */
export function guardEditedFiles(): Promise<Figure> {
  return inTemporary(async (directory) => {
    const [large, small] = [await openSession(directory, many), await openSession(directory, few)]
    return compare({
      name: `events of a session with ${many} edited files`,
      atMost: 2,
      baseline: `those of one with ${few}`,
      rounds: 21,
      ours: () => large(callsPerRound),
      theirs: () => small(callsPerRound),
    })
  }, inMemory)
}

/** Starts a session that has edited this many files; the returned function edits some of them again. */
async function openSession(directory: string, files: number): Promise<(calls: number) => Promise<void>> {
  const root = join(realpathSync(directory), `project-${files}`)
  mkdirSync(join(root, 'src'), { recursive: true })
  const env = { HOME: directory, PATH: process.env.PATH }
  const guard = openGuard({ rules, guardHome: join(directory, `guard-${files}`), env, home: directory })
  const tell = (happening: HookEventDetail): Promise<unknown> =>
    guard.handle({ ...whose, cwd: root, root, ...happening } as HookEvent)
  let edits = 0
  const edit = async (): Promise<void> => {
    const path = join(root, 'src', `part-of-the-program-${edits % files}.ts`)
    edits += 1
    writeFileSync(path, String(edits))
    const change = { old: String(edits - 1), new: String(edits) }
    const call: ToolCall = {
      id: `t${edits}`,
      tool: 'Edit',
      input: { file_path: path, old_string: change.old, new_string: change.new },
      action: { kind: 'edit', path, edits: [change] },
    }
    await tell({ kind: 'tool_before', call })
    await tell({ kind: 'tool_after', call, outcome: succeeded })
  }
  await tell({ kind: 'session_start', source: 'startup' })
  while (edits < files) await edit()
  return async (calls) => {
    for (let count = 0; count < calls; count += 1) await edit()
  }
}

const whose = { agent: 'claude-code', session: 's1', agentId: null, agentType: null, promptId: null } as const

const succeeded = {
  kind: 'success',
  exitCode: null,
  output: '',
  interrupted: false,
  timedOut: false,
  background: false,
} as const
