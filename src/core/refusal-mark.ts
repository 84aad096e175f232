/** Every refusal of the guard begins with it, because some agents send a refused stop back as a new prompt. */
export const refusalMark = 'Gantry guard:'

export function withRefusalMark(text: string): string {
  return text.startsWith(refusalMark) ? text : `${refusalMark} ${text}`
}

/**
 * Whether a prompt is a returned refusal. Any line may begin with the mark, because agents join the texts of several hooks and add
 * text in front. A missed refusal would reset the gate's counter; a user who quotes one only keeps the counter.
 */
export function isOwnRefusal(prompt: string): boolean {
  return prompt.split('\n').some((line) => line.trimStart().replace(wrapper, '').startsWith(refusalMark))
}

/** Codex and Gemini CLI wrap the text of a hook. */
const wrapper = /^<hook_(?:prompt|context)[^<>]{0,500}>\s*/
