/** How profiles are named. */
export const PROFILE_NAME = /^[a-z0-9][a-z0-9_-]*$/;
/** Of vocabularies as well. */
export const NAME_IS_WRONG = "Only small letters, digits, - and _, beginning with a letter or digit.";
