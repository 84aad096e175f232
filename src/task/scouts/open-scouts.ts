import type { z } from 'zod'
import type { Model } from '../../models/contract.ts'
import { realSleep, type Sleep } from '../../models/retry.ts'
import type { ScoutName, ScoutOutcome, ScoutQuery, Scouts, TaskStep } from '../contract.ts'
import { askScout, readAnswer } from './ask-scout.ts'
import { type CheckedReport, checkScoutA, checkScoutB } from './check-reports.ts'
import { type DetectedFacts, detectFacts } from './detect-facts.ts'
import { repoMap } from './repo-map.ts'
import { scoutASchema, scoutBSchema } from './report-schemas.ts'
import { type ScoutExchange, scoutPrompt, scoutSystem } from './scout-prompts.ts'
import { readSourceTree, type SourceTree } from './source-tree.ts'

export interface ScoutsOptions {
  /** Opened without retries of its own. */
  readonly model: Model
  readonly root: string
  /** The package a task is confined to, relative to the root. */
  readonly packageDir: string | null
  /** `timeouts.scout_query`, of one try. */
  readonly timeoutMs: number
  /** Commands that are written down in the project, with where. */
  readonly commands: () => Promise<DetectedFacts['commands']>
  readonly emit: (step: TaskStep) => void
  readonly sleep?: Sleep
  /** Tokens of the map of the repository. */
  readonly maxMapTokens?: number
}

const defaultMapTokens = 24_000
const summaryChars = 200

/** Both Scouts, each with a history of its own: a question to one never changes the other, and a failed one leaves no trace. */
export function openScouts(options: ScoutsOptions): Scouts {
  const { model, root, packageDir, timeoutMs, emit, sleep = realSleep } = options
  const histories: Readonly<Record<ScoutName, ScoutExchange[]>> = { scout_a: [], scout_b: [] }

  async function ask<Report>(
    scout: ScoutName,
    query: ScoutQuery,
    signal: AbortSignal,
    schema: z.ZodType<Report>,
    prepare: (tree: SourceTree) => Promise<{
      readonly facts: DetectedFacts | null
      readonly check: (report: Report) => CheckedReport<Report>
    }>,
  ): Promise<ScoutOutcome<Report>> {
    const startedMs = performance.now()
    const tree = await readSourceTree(root, packageDir)
    const { facts, check } = await prepare(tree)
    const focus = [...(query.focus ?? []), ...(facts?.frames.map(({ path }) => path) ?? [])]
    const map = repoMap(tree, {
      question: query.question,
      focus,
      maxTokens: options.maxMapTokens ?? defaultMapTokens,
    })
    const history = histories[scout]
    const prompt = scoutPrompt({ query, history, map, facts })
    const end = await askScout({ model, system: scoutSystem[scout], prompt, timeoutMs, signal, sleep })
    const read = end.kind === 'answer' ? readAnswer(end.answer.value, schema) : null
    const error =
      end.kind === 'failed'
        ? end.message
        : read?.kind === 'wrong'
          ? `the answer does not fit schema version 1: ${read.why}`
          : null
    const answer = end.kind === 'answer' ? end.answer : null
    emit({
      kind: 'scout_query',
      scout,
      summary: query.question.slice(0, summaryChars),
      duration_ms: Math.round(performance.now() - startedMs),
      success: read?.kind === 'report',
      tries: end.tries,
      cost_usd: answer?.costUsd ?? null,
      input_tokens: answer?.tokens.input ?? 0,
      output_tokens: answer?.tokens.output ?? 0,
      ...(error !== null && { error }),
    })
    if (end.kind === 'cancelled') return { kind: 'cancelled' }
    if (answer === null || read?.kind !== 'report')
      return { kind: 'failed', message: error ?? 'no answer', tries: end.tries }
    const { report, corrections } = check(read.report)
    for (const what of corrections) emit({ kind: 'scout_correction', scout, what })
    history.push({ question: query.question, answer: answer.value })
    return {
      kind: 'answer',
      answer: { report, raw: answer.value, corrections, costUsd: answer.costUsd },
    }
  }

  return {
    askA: (query, signal) =>
      ask('scout_a', query, signal, scoutASchema, async (tree) => ({
        facts: null,
        check: (report) => checkScoutA(report, tree),
      })),
    askB: (query, signal) =>
      ask('scout_b', query, signal, scoutBSchema, async (tree) => {
        const facts = detectFacts(tree, await options.commands(), query.failureLog ?? '')
        return { facts, check: (report) => checkScoutB(report, tree, facts) }
      }),
  }
}
