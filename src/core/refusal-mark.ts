/** Every refusal of the guard begins with it: some agents hand a refused stop back as a new prompt, which no person typed. */
export const refusalMark = 'Gantry guard:'

export function withRefusalMark(text: string): string {
  return text.startsWith(refusalMark) ? text : `${refusalMark} ${text}`
}

/**
 * A prompt that is a refusal coming back. Any line may begin with the mark, because agents join what several hooks say and put
 * things in front. Missing one would start the gate's counting anew each time; a person who quotes one only keeps it going.
 */
export function isOwnRefusal(prompt: string): boolean {
  return prompt.split('\n').some((line) => line.trimStart().replace(wrapper, '').startsWith(refusalMark))
}

/** Codex and Gemini CLI wrap what a hook said. */
const wrapper = /^<hook_(?:prompt|context)[^<>]{0,500}>\s*/
