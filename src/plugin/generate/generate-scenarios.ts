import picomatch from 'picomatch'
import { forEachLimited } from '../../core/for-each-limited.ts'
import { contentHash } from '../../io/content-hash.ts'
import { createRateLimiter } from '../../io/rate-limiter.ts'
import type { Budget } from '../../models/budget.ts'
import type { Model } from '../../models/contract.ts'
import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentLabel } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import { type ComponentType, note, type PluginStep } from '../contract.ts'
import { askComponent } from './ask-component.ts'
import { generationSystem } from './component-prompt.ts'
import {
  type ComponentScenarios,
  componentScenariosSchema,
  scenarioMaker,
  type UnnamedScenario,
} from './component-record.ts'
import type { PluginScenario } from './contract.ts'
import { fallbackComponent } from './fallback-scenarios.ts'
import { generationMetadata } from './generation-metadata.ts'
import { mergeScenarios } from './merge-scenarios.ts'
import {
  batchSlots,
  type ComponentPlan,
  componentsInScope,
  planComponent,
  plannedPrompts,
} from './plan-component.ts'
import { type ScenarioSlot, suffixOf } from './plan-slots.ts'
import { templateComponent } from './template-component.ts'
import { writeComponent } from './write-component.ts'

export interface GenerationOptions {
  readonly config: PluginConfig
  /** null: no model is available, and scenarios are made from the phrases of the components. */
  readonly model: Model | null
  readonly budget: Budget
  readonly signal: AbortSignal
  /** From files and cases; they override generated ones. */
  readonly handWritten: readonly PluginScenario[]
  /** Only scenarios with one of these in their id. Empty: all. */
  readonly filters: readonly string[]
  readonly checkpoint: GenerationCheckpoint
  readonly onStep: (step: PluginStep) => void
}

/**
 * The scenarios of a plugin: model-written for skills and agents, templates for the rest, and hand-written ones. A component
 * whose model fails gets scenarios without a model. A component is never paid for twice, and one that the filter leaves out is not
 * paid for at all. The order is that of the analysis, not that of the answers.
 */
export async function generateScenarios(analysis: Analysis, options: GenerationOptions) {
  const { config, model, handWritten, filters, onStep } = options
  const plan = planScenarios(analysis, config, { handWritten, filters, hasModel: model !== null })
  onStep({ kind: 'stage_start', stage: 'generation', total: plan.components.length })
  const done = await writeAll(plan.components, options)
  const generated = nameScenarios(plan.components.map((component) => withStubs(component, done)))
  const merged = mergeScenarios(analysis, {
    handWritten,
    generated: generated.filter(({ user_prompt: prompt }) => prompt !== ''),
  })
  const records = plan.components.flatMap((component) => done.get(component)?.record ?? [])
  const warnings = warningsOf(records, model === null)
  for (const message of warnings) note(onStep, 'warning', message)
  return {
    scenarios: merged.scenarios.filter((scenario) => matchesFilter(scenario, filters)),
    metadata: generationMetadata({ model: model?.name ?? null, config, records, merged, warnings }),
  }
}

/** Scenarios that were not asked for still have their ids, so that the others keep theirs. */
function withStubs(
  component: PlannedComponent,
  done: ReadonlyMap<PlannedComponent, ComponentScenarios>,
): NamedGroup {
  const { entry, scenarios } = component
  const made = done.get(component)?.scenarios ?? []
  const written = new Set(made.map(({ suffix }) => suffix))
  const stubs = component.isWanted
    ? scenarios.filter(({ suffix, user_prompt: prompt }) => prompt === '' && !written.has(suffix))
    : scenarios.map((scenario) => ({ ...scenario, user_prompt: '' }))
  return { type: entry.type, name: entry.component.name, scenarios: [...made, ...stubs] }
}

/** What a run will try, known before anything is spent. */
export interface ScenarioPlan {
  readonly components: readonly PlannedComponent[]
  /** Hand-written and generated ones that match the filter. The prompt is empty where a model will write it. */
  readonly scenarios: readonly PluginScenario[]
}

export interface PlannedComponent {
  readonly entry: AnyComponent
  /** What a model is asked, for the scenarios that match the filter. null: no model is needed. */
  readonly plan: ComponentPlan | null
  /** Made without a model; null when a model will write them. */
  readonly ready: ComponentScenarios | null
  readonly scenarios: readonly UnnamedScenario[]
  /** At least one of its scenarios matches the filter. */
  readonly isWanted: boolean
}

export interface PlanOptions {
  readonly handWritten: readonly PluginScenario[]
  readonly filters: readonly string[]
  readonly hasModel: boolean
}

/** Throws GantryError INVALID_FILE for errors in hand-written scenarios, before anything is paid for. */
export function planScenarios(
  analysis: Pick<Analysis, 'components' | 'findings' | 'plugin_load_result' | 'plugin_name'>,
  config: PluginConfig,
  { handWritten, filters, hasModel }: PlanOptions,
): ScenarioPlan {
  const planned = componentsInScope(analysis.components, config.scope).map((entry) => {
    const template = templateComponent(entry, analysis, config)
    const plan =
      template === null && (entry.type === 'skill' || entry.type === 'agent')
        ? planComponent(entry, analysis, config)
        : null
    const ready = template ?? (plan === null || hasModel ? null : fallbackComponent(plan))
    const scenarios = ready?.scenarios ?? plan?.slots.map((slot) => slotStub(slot, plan)) ?? []
    return { entry, plan, ready, scenarios }
  })
  const named = nameScenarios(
    planned.map(({ entry, scenarios }) => ({ type: entry.type, name: entry.component.name, scenarios })),
  )
  let at = 0
  const components = planned.map(({ plan, ...component }): PlannedComponent => {
    const own = named.slice(at, at + component.scenarios.length)
    at += own.length
    const begin = (own[0]?.id ?? '').slice(0, -(component.scenarios[0]?.suffix.length ?? 0))
    const slots =
      plan?.slots.filter((slot) =>
        matchesFilter({ ...slotStub(slot, plan), id: `${begin}${suffixOf(slot)}` }, filters),
      ) ?? []
    return {
      ...component,
      plan:
        plan === null || filters.length === 0 ? plan : { ...plan, slots, batches: batchSlots(slots, config) },
      isWanted: filters.length === 0 || own.some((scenario) => matchesFilter(scenario, filters)),
    }
  })
  const { scenarios } = mergeScenarios(analysis, { handWritten, generated: named })
  return { components, scenarios: scenarios.filter((scenario) => matchesFilter(scenario, filters)) }
}

/** A filter is a part of the id or, after `tag:`, a tag; the types of a scenario count as tags. One of each kind must match. */
export function matchesFilter(scenario: FilteredScenario, filters: readonly string[]): boolean {
  const { id, component_type, scenario_type, tags = [] } = scenario
  const [wantedTags, parts] = [
    filters.filter((filter) => filter.startsWith(tagFilter)).map((filter) => filter.slice(tagFilter.length)),
    filters.filter((filter) => !filter.startsWith(tagFilter)),
  ]
  const own = [component_type, scenario_type, ...tags]
  return (
    (parts.length === 0 ||
      parts.some((part) => id.includes(part) || picomatch.isMatch(id, part, { contains: true }))) &&
    (wantedTags.length === 0 || wantedTags.some((tag) => own.includes(tag)))
  )
}

type FilteredScenario = Pick<PluginScenario, 'id' | 'component_type' | 'scenario_type' | 'tags'>

/** An id has no colon. */
export const tagFilter = 'tag:'

function slotStub(slot: ScenarioSlot, { entry }: ComponentPlan): UnnamedScenario {
  const scenario = scenarioMaker(entry.type, entry.component.name, 'model')
  return scenario(suffixOf(slot), slot.type, '')
}

async function writeAll(
  components: readonly PlannedComponent[],
  options: GenerationOptions,
): Promise<ReadonlyMap<PlannedComponent, ComponentScenarios>> {
  const done = new Map<PlannedComponent, ComponentScenarios>()
  const write = writerOf(options)
  await forEachLimited(
    options.config.max_concurrent,
    components.filter(({ isWanted }) => isWanted),
    async (component) => {
      const { plan, ready } = component
      const made = plan === null ? ready : await write(plan)
      if (made !== null) done.set(component, made)
    },
  )
  return done
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
    // A model that could not be reached may be available when the run is resumed. The cost is where that of a run is summed up.
    if (asked.isPaid)
      checkpoint.save(idOf(plan), { key: keyOf(plan, config), cost_usd: asked.costUsd, ...written })
    const who = componentLabel(plan.entry.type, plan.entry.component.name)
    note(onStep, 'info', `${who}: ${written.scenarios.length} scenarios`)
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
