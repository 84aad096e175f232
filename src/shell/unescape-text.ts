/** What `echo -e`, `printf` and `$'…'` make of escapes. */
export function unescapeText(text: string): string {
  return text.replaceAll(
    /\\(?:x([\da-fA-F]{1,2})|u([\da-fA-F]{1,4})|0?([0-7]{1,3})|([\s\S]))/g,
    (_, hex?: string, unicode?: string, octal?: string, other?: string) => {
      if (other !== undefined) return Object.hasOwn(controls, other) ? (controls[other] ?? '') : `\\${other}`
      const digits = hex ?? unicode
      const code = digits === undefined ? Number.parseInt(octal ?? '0', 8) : Number.parseInt(digits, 16)
      // Words cannot contain NUL; in output it separates the entries of a list.
      return code === 0 ? '\n' : String.fromCodePoint(code)
    },
  )
}

const controls: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  '"': '"',
  "'": "'",
  a: '',
  b: '',
  e: '',
}
