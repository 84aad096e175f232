/** A name that agents accept for a task, made of a few words. */
export function slug(text: string, joint: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, joint)
    .slice(0, 60)
}
