import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readJsonIfExists, writeJsonAtomic } from '../src/io/files.ts'
import { builtInPrices } from '../src/models/prices.ts'
import { pluginConfigSchema } from '../src/plugin/config/keys/schema.ts'
import type { Arm } from '../src/plugin/contract.ts'
import { knownComponents } from '../src/plugin/evaluate/detection/known-components.ts'
import { createEvaluationFold } from '../src/plugin/evaluate/metrics/create-evaluation-fold.ts'
import { evaluateStored } from '../src/plugin/evaluate/stored/evaluate-stored.ts'
import type { StoredTrial } from '../src/plugin/evaluate/stored/read-trial.ts'
import type { Execution, PluginTrial, ToolCapture } from '../src/plugin/execute/contract.ts'
import type { PluginScenario } from '../src/plugin/generate/contract.ts'
import {
  type SampleLine,
  sampleExecution,
  samplePlugin,
  sampleScenario,
  sampleTranscript,
} from '../test/support/plugin-samples.ts'
import { type Figure, inMemory, inTemporary, median, timed } from './figure.ts'

const many = 10_000
const few = 2_000
const secondsAllowed = 20
const ratioAllowed = 8
const rounds = 3

/** Reads, evaluates and summarizes 10,000 stored trials, against only reading and parsing the same files. */
export function evaluateTranscripts(): Promise<Figure> {
  return inTemporary(async (directory) => {
    store(directory, many)
    const oursMs: number[] = []
    const baselineMs: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      baselineMs.push(await timed(() => parseAll(directory)))
      oursMs.push(await timed(() => evaluateAll(directory, many)))
    }
    const ratio = median(oursMs.map((ms, round) => ms / (baselineMs[round] ?? Number.NaN)))
    const seconds = median(oursMs) / 1000
    return {
      name: 'evaluate 10,000 stored transcripts',
      limit: `at most ${secondsAllowed} s, and ${ratioAllowed}x reading and parsing the same files`,
      ratio,
      ok: seconds <= secondsAllowed && ratio <= ratioAllowed,
      detail: {
        seconds,
        oursMs: median(oursMs),
        baselineMs: median(baselineMs),
        transcriptKb: transcriptKb(directory),
      },
    }
  }, inMemory)
}

/** Memory must not grow with the number of transcripts: neither what is kept nor the peak, which varies a little with V8. */
export function evaluateMemory(): Promise<Figure> {
  return inTemporary(async (directory) => {
    store(directory, many)
    const small = memoryOf(directory, few)
    const large = memoryOf(directory, many)
    const ratio = large.peakKb / small.peakKb
    return {
      name: 'peak memory of evaluating 10,000 transcripts',
      limit: 'at most 1.5x that of 2,000, and 1.1x in what is kept',
      ratio,
      ok: ratio <= 1.5 && large.keptKb / small.keptKb <= 1.1,
      detail: {
        oursMb: large.peakKb / 1024,
        baselineMb: small.peakKb / 1024,
        keptMb: large.keptKb / 1024,
        baselineKeptMb: small.keptKb / 1024,
      },
    }
  }, inMemory)
}

interface MemoryUse {
  readonly peakKb: number
  /** Live memory after the evaluation, before the summary. */
  readonly keptKb: number
}

function memoryOf(directory: string, count: number): MemoryUse {
  const flags = ['--expose-gc', import.meta.filename, directory, String(count)]
  return JSON.parse(String(execFileSync(process.execPath, flags)))
}

const skills = Array.from({ length: 40 }, (_, index) => `skill-${index}`)
const known = knownComponents(
  samplePlugin('demo', {
    skill: skills,
    agent: ['reviewer'],
    command: ['hello'],
    hook: ['Stop', 'PreToolUse::Write|Edit'],
  }),
  [samplePlugin('other', { skill: skills, hook: ['PreToolUse::Write'] })],
)

async function evaluateAll(directory: string, count: number, beforeSummary?: () => void): Promise<void> {
  const fold = createEvaluationFold({ plugin: 'demo', prices: builtInPrices })
  await evaluateStored({
    trials: storedTrials(directory, count),
    known,
    config: pluginConfigSchema.parse({}),
    fold,
    keep: (evaluation) =>
      writeJsonAtomic(join(directory, 'evaluations', `${evaluation.trial.id}.json`), evaluation),
  })
  beforeSummary?.()
  const { counts, by_component } = fold.finish()
  if (counts.pass + counts.fail !== count || Object.keys(by_component).length !== skills.length)
    throw new Error(`evaluated ${counts.pass + counts.fail} of ${count} trials`)
}

function* storedTrials(directory: string, count: number): Generator<StoredTrial> {
  for (let index = 0; index < count; index += 1) {
    const { scenario, trial } = planned(index)
    yield {
      trial,
      scenario,
      execution: () => readJsonIfExists(join(directory, 'executions', `${trial.id}.json`)),
      transcript: () => readJsonIfExists(join(directory, 'transcripts', `${trial.id}.json`)),
    }
  }
}

function parseAll(directory: string): void {
  for (const kind of ['executions', 'transcripts'])
    for (const name of readdirSync(join(directory, kind)))
      JSON.parse(readFileSync(join(directory, kind, name), 'utf8'))
}

function store(directory: string, count: number): void {
  for (const kind of ['executions', 'transcripts', 'evaluations']) mkdirSync(join(directory, kind))
  for (let index = 0; index < count; index += 1) {
    const { trial, scenario } = planned(index)
    const { execution, lines } = traces(index, trial, scenario)
    const write = (kind: string, value: unknown) =>
      writeFileSync(join(directory, kind, `${trial.id}.json`), JSON.stringify(value, null, 2))
    write('executions', execution)
    write('transcripts', sampleTranscript(lines))
  }
}

/** A thousand scenarios of forty skills, in two arms, five times each. */
function planned(index: number): { readonly scenario: PluginScenario; readonly trial: PluginTrial } {
  const number = index % 1_000
  const arm: Arm = Math.floor(index / 1_000) % 2 === 0 ? 'alone' : 'crowd'
  const rep = 1 + Math.floor(index / 2_000)
  const name = skills[number % skills.length] ?? ''
  const id = `${name}-direct-${number}`
  return {
    scenario: sampleScenario({
      id,
      component_ref: name,
      expected_component: name,
      expected_trigger: number % 5 !== 0,
      user_prompt: `Please do what ${name} is for, number ${number}.`,
    }),
    trial: { id: `${id}.${arm}.${rep}`, scenario_id: id, arm, rep },
  }
}

/** A session of some tool calls; sometimes one is the expected skill, sometimes another skill, sometimes none. */
function traces(
  index: number,
  trial: PluginTrial,
  { expected_component, user_prompt }: PluginScenario,
): { readonly execution: Execution; readonly lines: readonly SampleLine[] } {
  const called = index % 7 === 0 ? `other:${expected_component}` : `demo:${expected_component}`
  const captures: ToolCapture[] = Array.from({ length: 10 }, (_, call) => ({
    name: call === 3 && index % 3 !== 0 ? 'Skill' : 'Read',
    input:
      call === 3 && index % 3 !== 0 ? { skill: called } : { file_path: `/workspace/src/file-${call}.ts` },
    tool_use_id: `toolu_${index}_${call}`,
    timestamp: 1_790_000_000_000 + index * 1_000 + call,
    ...(call % 2 === 0 && { success: true, result: `line ${call} of the file\n`.repeat(8) }),
  }))
  const lines: SampleLine[] = [
    { user: user_prompt },
    ...captures.flatMap(({ tool_use_id, name, input }): SampleLine[] => [
      { assistant: 'I look at the next file before I go on.', calls: [{ id: tool_use_id, name, input }] },
      { result: tool_use_id, text: 'const value = compute(input, options)\n'.repeat(10) },
    ]),
    { assistant: 'This is done as you asked. '.repeat(10) },
  ]
  const hook_responses = ['Stop', 'PreToolUse:Write'].map((hook_name, place) => ({
    hook_name,
    hook_event: hook_name.split(':')[0] ?? '',
    stdout: '',
    stderr: '',
    exit_code: 0,
    outcome: 'success' as const,
    timestamp: 1_790_000_000_000 + index * 1_000 + 50 + place,
  }))
  return {
    execution: sampleExecution({
      trial,
      scenario_id: trial.scenario_id,
      detected_tools: captures,
      hook_responses,
    }),
    lines,
  }
}

function transcriptKb(directory: string): number {
  const names = readdirSync(join(directory, 'transcripts')).slice(0, 100)
  const sizes = names.map((name) => readFileSync(join(directory, 'transcripts', name)).length)
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length / 1024
}

// Runs in its own process to measure its memory. Must stay last in the file: it uses everything above.
if (import.meta.main) {
  const [directory = '', count = '0'] = process.argv.slice(2)
  let keptKb = 0
  await evaluateAll(directory, Number(count), () => {
    globalThis.gc?.()
    keptKb = process.memoryUsage().heapUsed / 1024
  })
  console.log(JSON.stringify({ peakKb: process.resourceUsage().maxRSS, keptKb }))
}
