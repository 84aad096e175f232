import type { SemanticVariation } from './contract.ts'

/** In the order in which they are dealt to the semantic scenarios of a skill, with what each asks for. */
export const semanticVariations = {
  synonym: 'the same request with other words for its key terms',
  related_concept: 'the request by way of a related notion, without the key terms',
  structure: 'the request in another form of sentence: a statement, a question, an aside',
  informal: 'the request as it is dashed off in a chat: short, casual, perhaps with a typing error',
} as const satisfies Readonly<Record<SemanticVariation, string>>

export const semanticVariationTypes: readonly SemanticVariation[] = [
  'synonym',
  'related_concept',
  'structure',
  'informal',
]
