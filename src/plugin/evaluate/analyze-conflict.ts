import { componentLabel } from '../component-list.ts'
import type { PluginConfig } from '../config/keys/schema.ts'
import type { PluginScenario } from '../generate/contract.ts'
import type { Conflict, ConflictSeverity, Detection } from './contract.ts'
import type { KnownComponent } from './detection/known-components.ts'
import { ownAndRivals } from './expected-component.ts'

export interface ConflictOptions {
  /** null: the scenario names no component, so there is no conflict. */
  readonly expected: KnownComponent | null
  readonly conflict_detection: PluginConfig['conflict_detection']
  /** `tuning.limits.conflict_domain_part_min`: the minimum length of a shared word of two names that is reported as a hint. */
  readonly domainPartMin: number
  /** Set when the called name belongs to several components: the message that says so. */
  readonly sharedName?: string
}

/**
 * Which other components fired, and how severe that is:
 * - `high`: the expected component is ambiguous, or is missing while others fired;
 * - `medium`: another component of its type fired as well;
 * - `low`: a component of another type fired as well;
 * - `none`: only it fired, or nothing did, or it was expected to stay quiet and did: another component may be the right one then.
 *
 * Components of other plugins and of the CLI itself count only with `cross_plugin`. All are listed.
 */
export function analyzeConflict(
  scenario: PluginScenario,
  detections: readonly Detection[],
  options: ConflictOptions,
): Conflict {
  const found = options.conflict_detection.enabled ? judge(scenario, detections, options) : noConflict
  return {
    expected_component: scenario.expected_component,
    expected_component_type: scenario.component_type,
    all_triggered_components: detections.map(({ component_type, name, plugin, confidence }) => ({
      component_type,
      name,
      plugin,
      confidence,
    })),
    has_conflict: found.severity !== 'none',
    conflict_severity: found.severity,
    ...(found.reason !== undefined && { conflict_reason: found.reason }),
  }
}

interface Found {
  readonly severity: ConflictSeverity
  readonly reason?: string
}

const noConflict: Found = { severity: 'none' }

function judge(scenario: PluginScenario, detections: readonly Detection[], options: ConflictOptions): Found {
  const { expected, conflict_detection, sharedName } = options
  if (expected === null) return noConflict
  if (sharedName !== undefined) return { severity: 'high', reason: sharedName }
  const { own, rivals } = ownAndRivals(expected, detections)
  const others = rivals.filter(({ plugin }) => conflict_detection.cross_plugin || plugin === expected.plugin)
  if (others.length === 0) return noConflict
  const reason = `${others.map((other) => describe(other, expected, options)).join(' and ')} fired`
  if (own === undefined)
    return scenario.expected_trigger
      ? { severity: 'high', reason: `${reason} instead of ${componentLabel(expected.type, expected.name)}` }
      : noConflict
  const isSameType = others.some(({ component_type }) => component_type === expected.type)
  return { severity: isSameType ? 'medium' : 'low', reason: `${reason} as well` }
}

function describe(other: Detection, expected: KnownComponent, { domainPartMin }: ConflictOptions): string {
  // Names of hooks begin with their event, which rivals share in any case.
  const shared = expected.type === 'hook' ? null : sharedNamePart(other.name, expected.name, domainPartMin)
  const hint = shared === null ? '' : ` (related: both names have "${shared}")`
  return `${componentLabel(other.component_type, other.name)}${hint}`
}

/**
 * A word two names have in common, such as `deploy` in `deploy-app` and `deploy/staging`: a sign that both serve the same
 * purpose and that their descriptions should say which one to use when. Parts shorter than `minLength` are ignored.
 */
function sharedNamePart(a: string, b: string, minLength: number): string | null {
  const parts = new Set(partsOf(a))
  return partsOf(b).find((part) => part.length >= minLength && parts.has(part)) ?? null
}

/** In the order of the name. */
function partsOf(name: string): readonly string[] {
  return name
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '')
}
