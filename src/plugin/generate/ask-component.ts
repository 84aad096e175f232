import { addCost } from '../../core/add-cost.ts'
import { addTokens, noTokens, type TokenUsage } from '../../core/trial.ts'
import type { RateLimiter } from '../../io/rate-limiter.ts'
import type { Budget } from '../../models/budget.ts'
import { type Model, modelFailureOf } from '../../models/contract.ts'
import { uninterrupted } from '../../models/model-error.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { answerSchema, type GeneratedAnswer } from './answer-schema.ts'
import { componentPrompt, generationSystem } from './component-prompt.ts'
import { type Draft, type Dropped, dropReasons, fillSlots } from './fill-slots.ts'
import { batchSlots, type ComponentPlan, type SlotBatch } from './plan-component.ts'

export interface AskTools {
  readonly model: Model
  readonly budget: Budget
  readonly limiter: RateLimiter
  readonly signal: AbortSignal
  readonly config: Pick<PluginConfig, 'generation' | 'tuning'>
}

export type ComponentAnswers = Awaited<ReturnType<typeof askComponent>>

/**
 * Fills the slots of one component: one request per batch, and one more for slots whose answers were dropped. A failing model is an
 * outcome; only an interruption is thrown.
 */
export async function askComponent(plan: ComponentPlan, tools: AskTools) {
  const { entry, neighbours, slots } = plan
  const drafts: Draft[] = []
  const dropped: Dropped[] = []
  const ideas: string[] = []
  /** Why the model could not be used, one entry per failed request. */
  const failures: string[] = []
  const lost = new Set<string>()
  /** `isPaid`: the model answered, even if the answer was unusable. */
  const bill = { requests: 0, tokens: noTokens, costUsd: 0 as number | null, isPaid: false }
  let isOver = false

  const askFor = async (
    { slots: wanted, maxTokens }: SlotBatch,
    problems: readonly string[],
  ): Promise<void> => {
    const written = drafts.map(({ prompt }) => prompt)
    const prompt = componentPrompt({ entry, neighbours, slots: wanted, ideas, written, problems })
    const outcome = await askOnce(prompt, maxTokens, tools)
    bill.requests += 1
    bill.tokens = addTokens(bill.tokens, outcome.tokens)
    bill.costUsd = addCost(bill.costUsd, outcome.costUsd)
    bill.isPaid ||= outcome.kind === 'answer' || outcome.isPaid
    if (outcome.kind === 'failure') {
      failures.push(outcome.message)
      for (const { id } of wanted) lost.add(id)
      isOver = !outcome.mayGoOn
      return
    }
    ideas.push(...ideaTexts(outcome.answer))
    const filled = fillSlots(outcome.answer.scenarios, { entry, neighbours, open: wanted }, drafts)
    drafts.push(...filled.drafts)
    dropped.push(...filled.dropped)
  }

  for (const batch of plan.batches) if (!isOver) await askFor(batch, [])
  const done = new Set(drafts.map(({ slot }) => slot.id))
  const open = slots.filter(({ id }) => !done.has(id) && !lost.has(id))
  const problems = [...new Set(dropped.map(({ reason }) => dropReasons[reason]))]
  for (const batch of batchSlots(open, tools.config)) if (!isOver) await askFor(batch, problems)
  return { drafts, dropped, ideas, failures, ...bill }
}

type Outcome = { readonly tokens: TokenUsage; readonly costUsd: number | null } & (
  | { readonly kind: 'answer'; readonly answer: GeneratedAnswer }
  | {
      readonly kind: 'failure'
      readonly message: string
      readonly isPaid: boolean
      /** The next request may succeed. */
      readonly mayGoOn: boolean
    }
)

async function askOnce(
  prompt: string,
  maxOutputTokens: number,
  { model, budget, limiter, signal, config: { generation } }: AskTools,
): Promise<Outcome> {
  await uninterrupted(model.name, signal, () => limiter.take(signal))
  try {
    const { value, tokens, costUsd } = await model.structured({
      system: generationSystem,
      prompt,
      schema: answerSchema,
      maxOutputTokens,
      temperature: generation.temperature,
      effort: generation.reasoning_effort,
      timeoutMs: generation.api_timeout_ms,
      budget,
      signal,
    })
    return { kind: 'answer', answer: value, tokens, costUsd }
  } catch (error) {
    const failure = modelFailureOf(error)
    if (failure === null) throw error
    const { reason, message, tokens, costUsd } = failure
    const answered = reason === 'malformed' || reason === 'refused'
    return { kind: 'failure', message, tokens, costUsd, isPaid: answered, mayGoOn: answered }
  }
}

const shownIdea = 300

function ideaTexts({ ideas }: GeneratedAnswer): readonly string[] {
  return ideas.flatMap(({ id, idea }) =>
    typeof idea === 'string' ? [`${typeof id === 'string' ? `${id}: ` : ''}${idea}`.slice(0, shownIdea)] : [],
  )
}
