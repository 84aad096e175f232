import { normalText } from './likeness.ts'

const requests = [
  'What is the capital of Australia?',
  'How many minutes are there in a week?',
  'Which is heavier, a litre of water or a litre of olive oil?',
  'What year did the first person walk on the moon?',
  'How do I keep basil alive on a windowsill?',
]

/** Something that is nobody's business here: the first that shares no word of any weight with what the component says. */
export function unrelatedRequest(about: readonly string[]): string {
  const said = new Set(about.flatMap((text) => normalText(text).split(' ')))
  const fits = requests.find((request) =>
    normalText(request)
      .split(' ')
      .every((word) => word.length < 5 || !said.has(word)),
  )
  return fits ?? requests[0] ?? ''
}
