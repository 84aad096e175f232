import { asJson } from '../json.ts'

/** The field of each kind of delta that goes on where the last one stopped. */
const growing = { text_delta: 'text', thinking_delta: 'thinking', input_json_delta: 'partial_json' } as const

export interface Delta {
  readonly field: (typeof growing)[keyof typeof growing]
  readonly text: string
}

/** null: a delta that adds to no text, such as a signature or a citation. */
export function readDelta(told: unknown): Delta | null {
  const delta = asJson(told)
  const field = isGrowing(delta.type) ? growing[delta.type] : undefined
  const text = field === undefined ? undefined : delta[field]
  return field !== undefined && typeof text === 'string' ? { field, text } : null
}

function isGrowing(type: unknown): type is keyof typeof growing {
  return typeof type === 'string' && Object.hasOwn(growing, type)
}
