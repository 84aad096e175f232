import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { findAgent } from '../../../scripts/agent-cache.ts'
import { exec } from '../../../src/io/exec.ts'
import { hermeticEnv } from '../../../src/io/hermetic-env.ts'
import { endpointVariables, type Responder } from '../../../src/models/boundary/contract.ts'
import { openBoundary } from '../../../src/models/boundary/open-boundary.ts'
import { keptFiles } from '../../../src/plugin/cases/grade/kept-files.ts'
import type { Execution, PluginTranscript, TranscriptEvent } from '../../../src/plugin/execute/contract.ts'
import type { PluginScenario } from '../../../src/plugin/generate/contract.ts'
import { executionOf, transcriptOf } from '../../support/plugin-trial.ts'

const runSchema = z.object({
  score: z.number(),
  error: z.string().nullable(),
  tracePath: z.string(),
  graders: z.array(
    z.object({ name: z.string(), passed: z.boolean(), scored: z.boolean(), explanation: z.string() }),
  ),
})

const documentSchema = z.object({
  cases: z.array(
    z.object({
      name: z.string(),
      dir: z.string(),
      promptMarkdown: z.string(),
      arms: z.object({ with: z.array(runSchema), without: z.array(runSchema).optional() }),
    }),
  ),
})

export type BuiltinCase = z.output<typeof documentSchema>['cases'][number]
export type BuiltinRun = z.output<typeof runSchema>

export interface BuiltinResult {
  readonly code: number | null
  readonly cases: readonly BuiltinCase[]
  readonly stderr: string
  /** Words of the user that reached the model, one list of messages per call. */
  readonly asked: readonly (readonly string[])[]
  /** What the trial of a run left, as ours would have left it. */
  trialOf(
    run: BuiltinRun,
    scenario: PluginScenario,
  ): { readonly execution: Execution; readonly transcript: PluginTranscript }
}

export interface BuiltinEval extends Disposable {
  run(pluginDir: string, args: readonly string[]): Promise<BuiltinResult>
}

/** The command `claude plugin eval` of the pinned Claude Code, with its own HOME and its model on the boundary. */
export function openBuiltinEval(): BuiltinEval {
  const scratch = mkdtempSync(join(tmpdir(), 'gantry-builtin-eval-'))
  let runs = 0
  return {
    run: (pluginDir, args) => {
      runs += 1
      return runBuiltin(join(scratch, String(runs)), pluginDir, args)
    },
    [Symbol.dispose]: () => rmSync(scratch, { recursive: true, force: true }),
  }
}

async function runBuiltin(
  scratch: string,
  pluginDir: string,
  args: readonly string[],
): Promise<BuiltinResult> {
  const program = findAgent('claude-code')?.program ?? ''
  const places = { home: join(scratch, 'home'), tmp: join(scratch, 'tmp') }
  for (const place of Object.values(places)) mkdirSync(place, { recursive: true })
  const json = join(scratch, 'result.json')
  const boundary = await openBoundary({})
  const asked: string[][] = []
  const session = boundary.open({ responder: obedient(asked) })
  try {
    const { exitCode, stderr } = await exec({
      argv: [
        program,
        'plugin',
        'eval',
        pluginDir,
        '--trust-plugin',
        '--no-publish',
        '--keep-temp',
        '--json',
        json,
        ...args,
      ],
      cwd: scratch,
      env: {
        ...hermeticEnv({ host: process.env, ...places }),
        ...endpointVariables(session.endpoint),
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        IS_SANDBOX: '1',
        NO_COLOR: '1',
      },
      timeoutMs: 100_000,
    })
    const document = existsSync(json)
      ? documentSchema.parse(JSON.parse(readFileSync(json, 'utf8')))
      : { cases: [] }
    return { code: exitCode, cases: document.cases, stderr: stderr.text, asked, trialOf }
  } finally {
    await session.close()
    await boundary.close()
  }
}

/**
 * A model that does what the user's words say: `CALL Tool {json}END` for each call, one after the other, then `ok done`. As a
 * judge it says PASS where the criterion asks for it.
 */
function obedient(asked: string[][]): Responder {
  return {
    name: 'script',
    answer: async ({ call }) => {
      const words = call.messages.filter(({ role }) => role === 'user').map(({ text }) => text)
      asked.push(words)
      const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 }
      if (call.tools.length === 0) {
        const text = words.join('\n').includes('SAY PASS') ? 'PASS' : 'FAIL'
        return { kind: 'turn', turn: { blocks: [{ kind: 'text', text }], stop: 'end', usage } }
      }
      const answers = call.messages.filter(({ toolCalls }) => toolCalls.length > 0).length
      const wanted = [...words.join('\n').matchAll(/CALL (\w+) (\{.*?\})END/g)][answers]
      const [, name, input] = wanted ?? []
      if (name === undefined || input === undefined)
        return { kind: 'turn', turn: { blocks: [{ kind: 'text', text: 'ok done' }], stop: 'end', usage } }
      const id = `toolu_${asked.length}`
      const block = { kind: 'tool_call' as const, id, name, input: JSON.parse(input) as unknown }
      return { kind: 'turn', turn: { blocks: [block], stop: 'tools', usage } }
    },
  }
}

const blockSchema = z.looseObject({ type: z.string() })
const lineSchema = z.looseObject({
  type: z.string(),
  parent_tool_use_id: z.string().nullish(),
  result: z.string().optional(),
  message: z.object({ content: z.array(blockSchema) }).optional(),
})

function trialOf({ tracePath }: BuiltinRun, scenario: PluginScenario): ReturnType<BuiltinResult['trialOf']> {
  const lines = readFileSync(tracePath, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => lineSchema.parse(JSON.parse(line)))
  const workspace = join(dirname(tracePath), '..', 'home', 'cwd')
  const begun = new Set(Object.keys(scenario.files ?? {}))
  const made = existsSync(workspace) ? filesIn(workspace).filter((path) => !begun.has(path)) : []
  const kept_files = keptFiles(scenario, workspace)
  const prompt: TranscriptEvent = {
    id: 'prompt',
    type: 'user',
    edit: { message: { role: 'user', content: scenario.user_prompt } },
  }
  return {
    transcript: transcriptOf([prompt, ...lines.flatMap(eventsOf)]),
    execution: executionOf({
      final_text: lines.findLast(({ type }) => type === 'result')?.result ?? null,
      workspace_changes: made.map((path) => ({ path, kind: 'created' })),
      ...(kept_files !== undefined && { kept_files }),
    }),
  }
}

function eventsOf(
  { type, message, parent_tool_use_id: parent }: z.output<typeof lineSchema>,
  index: number,
): readonly TranscriptEvent[] {
  const inside = typeof parent === 'string' ? { parent_tool_use_id: parent } : {}
  return (message?.content ?? []).flatMap((block, place): readonly TranscriptEvent[] => {
    const id = `evt_${index}_${place}`
    if (block.type === 'tool_result')
      return [
        {
          id,
          type: 'tool_result',
          tool_use_id: String(block.tool_use_id),
          result: typeof block.content === 'string' ? block.content : JSON.stringify(block.content),
          ...inside,
        },
      ]
    if (type !== 'assistant' && type !== 'user') return []
    const content = block.type === 'text' ? String(block.text) : ''
    const tool_calls =
      block.type === 'tool_use'
        ? [{ id: String(block.id), name: String(block.name), input: block.input }]
        : []
    return [{ id, type, edit: { message: { role: type, content, tool_calls } }, ...inside }]
  })
}

function filesIn(root: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.startsWith('.git/'))
}
