import type { HookComponent } from '../contract.ts'

type Behavior = HookComponent['expected_behavior']

/** In this order; the first that is met wins. */
const words: readonly (readonly [Behavior, readonly string[]])[] = [
  ['block', ['deny', 'block', 'reject', 'forbid', 'prevent']],
  ['allow', ['approve', 'allow', 'permit', 'accept']],
  ['modify', ['modify', 'update', 'change', 'alter']],
  ['log', ['log', 'track', 'record', 'audit']],
  ['context', ['context', 'load', 'initialize', 'setup']],
]

/** What a hook seems to be for, by the words of its handlers. */
export function hookBehavior(action: string): Behavior {
  const said = new Set(
    action
      .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z]+/),
  )
  return forms.find(([, known]) => !known.isDisjointFrom(said))?.[0] ?? 'unknown'
}

const endings = ['s', 'ed', 'd', 'ing', 'er', 'or']

/** `denies`, `blocked`, `logging`, `updater`; not `login`. */
const forms = words.map(([behavior, stems]) => [behavior, new Set(stems.flatMap(formsOf))] as const)

function formsOf(stem: string): readonly string[] {
  const root = stem.replace(/[ey]$/, '')
  const bases = [stem, root, `${root}${root.at(-1)}`]
  return [
    stem,
    ...bases.flatMap((base) => endings.map((ending) => base + ending)),
    `${root}ies`,
    `${root}ied`,
    `${root}ier`,
  ]
}
