const maxChars = 80

/** `step-02-unit-tests.log`: the step's name as far as it can be a file name on every system; its number tells it apart. */
export function logName(index: number, name: string): string {
  const safe = name
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .slice(0, maxChars)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
  return `step-${String(index + 1).padStart(2, '0')}-${safe === '' ? 'unnamed' : safe}.log`
}
