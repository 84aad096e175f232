import type { InsideText } from '../io/files.ts'

export function whyUnreadable(path: string, file: Exclude<InsideText, { readonly kind: 'text' }>): string {
  switch (file.kind) {
    case 'missing':
      return `${path} does not exist.`
    case 'outside':
      return `${path} is not in the workspace: ${file.reason}.`
    case 'not_a_file':
      return `${path} is ${file.what}.`
    case 'too_large':
      return `${path} is too large to be read: ${file.bytes} bytes.`
    case 'unreadable':
      return `${path} cannot be read: ${file.reason}.`
  }
}
