import { addCost } from '../../core/add-cost.ts'
import { forEachLimited } from '../../core/for-each-limited.ts'
import { contentHash } from '../../io/content-hash.ts'
import { createRateLimiter } from '../../io/rate-limiter.ts'
import type { Budget } from '../../models/budget.ts'
import type { Model } from '../../models/contract.ts'
import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentLabel } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { ComponentType, PluginStep } from '../contract.ts'
import { askComponent } from './ask-component.ts'
import { generationSystem } from './component-prompt.ts'
import {
  type ComponentScenarios,
  componentScenariosSchema,
  type UnnamedScenario,
} from './component-record.ts'
import type { PluginScenario } from './contract.ts'
import { fallbackComponent } from './fallback-scenarios.ts'
import { type GenerationMetadata, generationMetadata } from './generation-metadata.ts'
import { mergeScenarios } from './merge-scenarios.ts'
import { type ComponentPlan, componentsInScope, planComponent, plannedPrompts } from './plan-component.ts'
import { templateComponent } from './template-component.ts'
import { writeComponent } from './write-component.ts'

export interface GenerationOptions {
  readonly config: PluginConfig
  /** null: no model is available, and scenarios are made from the phrases of the components. */
  readonly model: Model | null
  readonly budget: Budget
  readonly signal: AbortSignal
  /** Of files and cases: they win over generated ones. */
  readonly handWritten: readonly PluginScenario[]
  readonly checkpoint: GenerationCheckpoint
  readonly onStep: (step: PluginStep) => void
}

export interface Generation {
  readonly scenarios: readonly PluginScenario[]
  readonly metadata: GenerationMetadata
}

/**
 * The scenarios of a plugin: model-written for skills and agents, templates for the rest, and hand-written ones. A component
 * whose model fails gets scenarios without a model. A component is never paid for twice. The order is that of the analysis, not that
 * of the answers.
 */
export async function generateScenarios(analysis: Analysis, options: GenerationOptions): Promise<Generation> {
  const { config, model, handWritten, onStep } = options
  const entries = componentsInScope(analysis.components, config.scope)
  onStep({ kind: 'stage_start', stage: 'generation', total: entries.length })
  // Errors in hand-written scenarios are reported before anything is paid for.
  mergeScenarios(analysis, { handWritten, generated: [] })
  const done = await writeAll(entries, analysis, options)
  const generated = nameScenarios(
    done.map(({ scenarios, record }) => ({ type: record.component_type, name: record.name, scenarios })),
  )
  const merged = mergeScenarios(analysis, { handWritten, generated })
  const records = done.map(({ record }) => record)
  const warnings = warningsOf(records, model === null)
  for (const message of warnings) onStep({ kind: 'note', level: 'warning', message })
  return {
    scenarios: merged.scenarios,
    metadata: generationMetadata({ model: model?.name ?? null, config, records, merged, warnings }),
  }
}

/** In the order of the entries. */
async function writeAll(
  entries: readonly AnyComponent[],
  analysis: Analysis,
  options: GenerationOptions,
): Promise<readonly ComponentScenarios[]> {
  const { config } = options
  const done = new Map<AnyComponent, ComponentScenarios>()
  const toAsk: { readonly entry: AnyComponent; readonly plan: ComponentPlan }[] = []
  for (const entry of entries) {
    const ready = templateComponent(entry, analysis, config)
    if (ready !== null) done.set(entry, ready)
    else if (entry.type === 'skill' || entry.type === 'agent')
      toAsk.push({ entry, plan: planComponent(entry, analysis, config) })
  }
  const write = writerOf(options)
  let failure: { readonly error: unknown } | null = null
  await forEachLimited(config.max_concurrent, toAsk, async ({ entry, plan }) => {
    if (failure !== null) return
    try {
      done.set(entry, await write(plan))
    } catch (error) {
      failure ??= { error }
    }
  })
  if (failure !== null) throw (failure as { readonly error: unknown }).error
  return entries.flatMap((entry) => done.get(entry) ?? [])
}

/** How a skill or agent gets its scenarios: from the checkpoint, from the model, or without a model. */
function writerOf({
  config,
  model,
  budget,
  signal,
  checkpoint,
  onStep,
}: GenerationOptions): (plan: ComponentPlan) => Promise<ComponentScenarios> {
  const limiter = createRateLimiter(config.generation.requests_per_second)
  return async (plan) => {
    const kept = loadComponent(checkpoint, plan, config)
    if (kept !== null) return kept
    if (model === null) return fallbackComponent(plan)
    const asked = await askComponent(plan, { model, budget, limiter, signal, config })
    const written = writeComponent(plan, asked, { model: model.name, degree: config.generation.diversity })
    // A model that could not be reached may be available when the run is resumed.
    if (asked.isPaid) saveComponent(checkpoint, plan, config, written)
    const who = componentLabel(plan.entry.type, plan.entry.component.name)
    onStep({ kind: 'note', level: 'info', message: `${who}: ${written.scenarios.length} scenarios` })
    return written
  }
}

function warningsOf(records: readonly ComponentScenarios['record'][], isWithoutModel: boolean): string[] {
  const without = records.filter(({ origin }) => origin === 'fallback').length
  return [
    ...(isWithoutModel && without > 0
      ? ['no model is available: scenarios of skills and agents are made from their own phrases']
      : []),
    ...records.flatMap(({ warnings }) => warnings),
    ...records.flatMap(({ component, skipped }) =>
      skipped === undefined ? [] : [`${component} is skipped: ${skipped}`],
    ),
  ]
}

/** Stores paid results, one value per component. */
interface GenerationCheckpoint {
  load(component: string): unknown
  /** Must be on disk when it returns. */
  save(component: string, value: unknown): void
}

/** The stored scenarios of a component, when component and request have not changed since; else null. */
function loadComponent(
  checkpoint: GenerationCheckpoint,
  plan: ComponentPlan,
  config: PluginConfig,
): ComponentScenarios | null {
  const kept = checkpoint.load(idOf(plan))
  if (typeof kept !== 'object' || kept === null || !('key' in kept)) return null
  if (kept.key !== keyOf(plan, config)) return null
  const read = componentScenariosSchema.safeParse(kept)
  return read.success ? read.data : null
}

function saveComponent(
  checkpoint: GenerationCheckpoint,
  plan: ComponentPlan,
  config: PluginConfig,
  done: ComponentScenarios,
): void {
  checkpoint.save(idOf(plan), { key: keyOf(plan, config), cost_usd: costOf(done), ...done })
}

/** null = unmetered. Stored at the top level, where the cost of a run is summed up. */
function costOf({ record }: ComponentScenarios): number | null {
  return record.usage.reduce<number | null>((sum, { cost_usd }) => addCost(sum, cost_usd), 0)
}

function idOf({ entry }: ComponentPlan): string {
  return componentId(entry.type, entry.component.name)
}

/** The prompts contain everything known about the component; the rest of the key is the model settings. */
function keyOf(plan: ComponentPlan, { generation }: PluginConfig): string {
  const { model, max_tokens, reasoning_effort, temperature } = generation
  return contentHash([
    generationSystem,
    ...plannedPrompts(plan),
    JSON.stringify({ model, max_tokens, reasoning_effort, temperature }),
  ])
}

interface NamedGroup {
  readonly type: ComponentType
  /** Of the component. */
  readonly name: string
  readonly scenarios: readonly UnnamedScenario[]
}

/** Leaves room for the longest suffix, an arm and a repetition. */
const maxSlug = 60

/**
 * Gives every scenario an id: `<component>-<type>-<index>`, a file name on every system, unique whatever the case. It depends on
 * the components alone, not on the answers of a model, so the same slot has the same id in every run.
 */
export function nameScenarios(groups: readonly NamedGroup[]): readonly PluginScenario[] {
  const slugs = groups.map(({ name }) => slugOf(name))
  const bySlug = Map.groupBy(slugs, (slug) => slug.toLowerCase())
  const taken = new Set<string>()
  return groups.flatMap(({ type, name, scenarios }, index) => {
    const plain = slugs[index] ?? ''
    const isShared = (bySlug.get(plain.toLowerCase()) ?? []).length > 1
    const slug = isShared ? `${plain}-${hashOf(componentId(type, name))}` : plain
    return scenarios.map(({ suffix, ...scenario }) => {
      const id = untaken(`${slug}-${slugOf(suffix)}`, taken)
      taken.add(id.toLowerCase())
      return { id, ...scenario }
    })
  })
}

/** The name as a file name; a hash replaces what is lost or cut. */
function slugOf(name: string): string {
  const safe = name.replaceAll(/[^A-Za-z0-9._]+/g, '-').replaceAll(/^[^A-Za-z0-9]+|-+$/g, '')
  const kept = safe === '' ? 'component' : safe
  const isWhole = safe !== '' && !/[^\x20-\x7e]/.test(name)
  return isWhole && kept.length <= maxSlug ? kept : `${kept.slice(0, maxSlug)}-${hashOf(name)}`
}

/** Two components may still collide: `a` with `multi-file-ref` and `a-multi` with `file-ref`. */
function untaken(id: string, taken: ReadonlySet<string>): string {
  let found = id
  for (let count = 2; taken.has(found.toLowerCase()); count += 1) found = `${id}-${count}`
  return found
}

function hashOf(text: string): string {
  return contentHash([text]).slice(0, 6)
}
