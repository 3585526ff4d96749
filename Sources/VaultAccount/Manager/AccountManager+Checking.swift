import FoundationEssentials
import Vault

extension AccountManager {
    /// Asks the server whether it still takes the login.
    ///
    /// If it does not take the access token, that is refreshed, and the server asked once more. Only a kick, and a rejection of the refresh,
    /// of new tokens or of those that cannot be refreshed, log the person out; a server that cannot be reached changes nothing. A profile
    /// that the server tells is kept.
    ///
    /// - Returns: the state afterwards.
    /// - Throws: as ``refresh()``.
    @discardableResult
    public func checkSession() async throws(AccountError) -> State {
        var session = try await freshSession()
        var answer = try await validate(session.tokens)
        if case .failure(let error) = answer {
            let canRefresh = session.tokens.refresh != nil && !error.isKick
            session = try await canRefresh ? refreshed(session) : rejected(session, error, UUID())
            answer = try await validate(session.tokens)
        }
        switch answer {
        case .success(let profile?):
            try keep(profile, of: session)
            reload()
        case .success(nil): break
        case .failure(let error): _ = try await rejected(session, error, UUID())
        }
        return state
    }

    /// - Returns: the profile, if the server tells one; the error if it does not take the tokens.
    private func validate(_ tokens: Tokens) async throws(AccountError) -> Result<Profile?, ServiceError> {
        do throws(ServiceError) {
            let profile = try await options.retries.run(options.sleep) { () async throws(ServiceError) in
                try await service.validate(tokens)
            }
            return .success(profile)
        } catch {
            guard error.kind == .rejected else { throw AccountError(error) }
            return .failure(error)
        }
    }

    /// The vault owes the profile to the preferences first: whoever logs out while it is written finds that it is there to be removed.
    private func keep(_ profile: Profile, of session: Session) throws(AccountError) {
        do throws(VaultError) {
            let (vault, id) = (try vault(), session.accountID)
            let fields = try AccountPreferences.fields(of: profile)
            try settle(id)
            let stored = try preferences().fields(of: id)
            guard fields.contains(where: { stored[$0] != $1 }) else { return }
            try vault.commit { (transaction) throws(VaultError) in
                // Not for who has logged out meanwhile. The tokens may have been refreshed.
                guard try transaction.read(vault.session(id))?.loggedInAt == session.loggedInAt else { return }
                try transaction.write(fields, to: vault.owed(id))
            }
            try settle(id)
        } catch { throw .store(error) }
    }
}
