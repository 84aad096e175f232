import type { ModelCall } from '../../models/boundary/contract.ts'

/** Everything a model is told in one call: system prompt, messages, results of tools. */
export function textOfCall({ system, messages }: ModelCall): string {
  const said = messages.flatMap(({ text, toolResults }) => [
    text,
    ...toolResults.map((result) => result.text),
  ])
  return [system, ...said].join('\n')
}

/** Was the model told this, in any call? */
export function toldModel(calls: readonly ModelCall[], text: string): boolean {
  return calls.some((call) => textOfCall(call).includes(text))
}
