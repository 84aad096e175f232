import type { Analysis } from '../analyze/contract.ts'
import { type AnyComponent, componentId, componentList } from '../component-list.ts'
import type { Grader } from '../generate/contract.ts'
import { claimOf, type TriggerClaim } from './trigger-words.ts'

/** A case as far as it tells which component should fire. */
export interface ExpectationFacts {
  readonly prompt: string
  readonly tags: readonly string[]
  readonly graders: readonly Grader[]
}

export interface Expectation {
  /** null: only graders decide. */
  readonly component: AnyComponent | null
  readonly expected: boolean
  /** Graders that name a component the plugin does not have. */
  readonly unknown: readonly string[]
}

/** A tag of this name says that the component of another tag should stay quiet. */
export const quietTag = 'quiet'

/**
 * Which component a case is about, and whether it should fire. A tag that is a component's id says it outright; else the first
 * grader that wants exactly one component to fire; else a prompt that begins with a command of the plugin; else the first
 * grader that wants exactly one to stay quiet.
 */
export function expectationOf(
  { prompt, tags, graders }: ExpectationFacts,
  { components }: Pick<Analysis, 'components'>,
): Expectation {
  const claims = graders.flatMap((grader) => {
    const claim = claimOf(grader, components)
    return claim === null ? [] : [{ ...claim, name: grader.name }]
  })
  const unknown = claims
    .filter(({ components: meant, isNamed }) => isNamed && meant.length === 0)
    .map(({ name }) => name)
  const tagged = componentList(components).find(({ type, component }) =>
    tags.includes(componentId(type, component.name)),
  )
  if (tagged !== undefined) {
    const own = claims.find((claim) => isAbout(claim, tagged))
    return { component: tagged, expected: own?.expected ?? !tags.includes(quietTag), unknown }
  }
  const certain = claims.filter(({ components: meant }) => meant.length === 1)
  const claim = certain.find(({ expected }) => expected)
  const typed = typedComponent(prompt, componentList(components))
  if (claim === undefined && typed !== null) return { component: typed, expected: true, unknown }
  const decisive = claim ?? certain[0]
  return { component: decisive?.components[0] ?? null, expected: decisive?.expected ?? true, unknown }
}

function isAbout({ components }: TriggerClaim, wanted: AnyComponent): boolean {
  return components.length === 1 && components.some(({ component }) => component === wanted.component)
}

/** What a person types to start a component: `/demo:deploy:staging now`. */
function typedComponent(prompt: string, all: readonly AnyComponent[]): AnyComponent | null {
  const [, typed] = /^\/(\S+)/.exec(prompt) ?? []
  if (typed === undefined) return null
  const name = typed.replaceAll('/', ':')
  return (
    all.find(
      ({ type, component }) => (type === 'command' || type === 'skill') && component.cli_name === name,
    ) ?? null
  )
}
